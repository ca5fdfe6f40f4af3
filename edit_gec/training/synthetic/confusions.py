"""What English writers confuse, small words: hand-written tables, data only, read by the error rules.

A table entry reads `right: wrong wrong*3 two_words;`: the wrong forms that learners and hurried writers put for the
right one, `*3` three times as often, `_` for a space. So `their: there*3 they're` turns "their house" into "there
house" three times out of four.
"""

from __future__ import annotations

Table = dict[str, tuple[str, ...]]


def parse_table(text: str) -> Table:
    """Entries, one by line or parted by semicolons, as {right: wrong forms, repeated as often as they weigh}."""
    table: dict[str, tuple[str, ...]] = {}
    for entry in text.replace("\n", ";").split(";"):
        right, _, alternatives = entry.partition(":")
        wrong: list[str] = []
        for alternative in alternatives.split():
            form, _, times = alternative.partition("*")
            wrong += [form.replace("_", " ")] * int(times or 1)
        if wrong:
            table[right.strip()] = tuple(wrong)
    return table


def word_set(text: str) -> frozenset[str]:
    """The words of a string."""
    return frozenset(text.split())


# Closed classes ------------------------------------------------------------------------------------------------------

ARTICLES = word_set("a an the")
POSSESSIVES = word_set("my your his her its our their")
DETERMINERS = ARTICLES | POSSESSIVES | word_set("this that these those some any no every each another either neither")
PLURAL_CUES = word_set(
    "two three four five six seven eight nine ten twenty hundred many several these those few both various "
    "numerous different all most other more some thousands dozens"
)
SINGULAR_CUES = word_set("a an one every each another this")
SUBJECTS_SINGULAR = word_set("he she it everyone everybody someone somebody nobody nothing everything something anyone")
SUBJECTS_PLURAL = word_set("i you we they people")
SUBJECTS = SUBJECTS_SINGULAR | SUBJECTS_PLURAL | word_set("who which there this that")
OBJECTS = word_set("me you him her it us them myself yourself himself herself itself ourselves themselves")
MODALS = word_set(
    "can could will would shall should may might must can't couldn't won't wouldn't shouldn't mustn't cannot i'll "
    "you'll he'll she'll it'll we'll they'll i'd let's"
)
DO = word_set("do does did don't doesn't didn't")
BE = word_set("am is are was were be been being isn't aren't wasn't weren't i'm you're he's she's it's we're they're")
HAVE = word_set("have has had haven't hasn't hadn't having i've you've we've they've")
PREPOSITIONS = word_set(
    "in on at to for of with by from about into during since through over under between among against without "
    "within before after until towards toward across behind beside near onto upon around"
)
CONJUNCTIONS = word_set("and but or so because if although though while when as than that whether unless nor")
ADVERBS = word_set(
    "always never often usually sometimes also really just already still only even probably certainly definitely "
    "actually soon again then now quite rather almost not ever finally recently suddenly easily quickly hardly "
    "simply"
)
WH = word_set("what where when why how who which whom whose")
FUNCTION_WORDS = (
    DETERMINERS | SUBJECTS | OBJECTS | MODALS | DO | BE | HAVE | PREPOSITIONS | CONJUNCTIONS | ADVERBS | WH
) | word_set(
    "more most less least very too much many few little other others such same own here there up down out off "
    "away back yes well oh one ones both all half enough please mine yours hers ours theirs else however "
    "therefore thus yet"
)
# Lemminflect knows these as verbs or nouns too, but in running text that reading is so rare that a rule may ignore it.
NOT_VERB = word_set(
    "people time man house water head eye table room school world hot well side king church street city town day "
    "year money god hand foot book body class bus case game home fish color colour number party paper doctor "
    "market good best even second major minute moment fun evening morning thing person sound state land office "
    "tree rain can will may might must still down up out back front top bottom low free clean open clear long "
    "short cool warm better worst right wrong safe separate secure sea sun star art air baby bank bed bird boat "
    "boss box boy bread breakfast business captain car cash cat center centre chair chance coat corner country "
    "course crowd dog door dream engineer enemy example father field film finger fire floor flower food forest "
    "friend fruit garden gas gold group hair heart history horse hour hundred ice island job kid kind lady "
    "language letter line list lunch machine mail map mass matter meal member middle mind mirror model month "
    "mother mountain mouth name nature night nose nurse ocean oil page pair parent part past path patient piece "
    "picture place plant plate pleasure pocket police port power price prison program programme project purpose "
    "question radio reason rest result river road rock role roof round row sand scene season seat self shape shop "
    "shoulder sister skin sky snow society soldier son song spirit sport spring station stomach stone story "
    "student subject sugar summer system tail team temperature term test theater ticket tongue tooth track "
    "traffic train trip trouble uncle voice wall war weather week weekend wind window wing winter wood word yard "
    "age bit boot border bottle bowl branch brick bridge brother"
)
NOT_NOUN = word_set(
    "go be have do say get make know think take see come want use find tell ask work try leave call keep let "
    "begin help show hear play run move live believe bring happen write sit stand lose pay meet include continue "
    "set learn change lead understand watch follow stop create speak read allow add spend grow open walk win "
    "teach offer remember consider appear buy serve die send build stay fall cut reach kill raise goes gets makes "
    "says does good old young small big large new high great hot cold long short main sure true real same nice "
    "happy sad poor rich important different possible able ready quick slow hard easy free full early late best "
    "better worse last next first second third it he she we they you i me him her them us am is are was were been "
    "can will may might must once here there who what when where why how not no yes so if or and but because than "
    "then too very well"
)
MASS_NOUNS = word_set(
    "information advice homework furniture equipment knowledge luggage baggage traffic money music research "
    "software hardware work weather news evidence help progress luck fun feedback stuff accommodation transport "
    "bread water air clothing staff slang vocabulary behaviour behavior damage garbage rubbish jewelry mail "
    "health education"
)
# Mass and abstract nouns before which learners put "the".
GENERIC_NOUNS = MASS_NOUNS | word_set(
    "life nature society people love happiness time history science technology english french spanish german "
    "chinese japanese school work university television internet tv pollution poverty crime war peace death art "
    "culture freedom democracy sport sports food children students women men humans animals parents friends "
    "teachers cars computers books dinner lunch breakfast bed home class mathematics physics economics tourism "
    "medicine religion politics"
)
MOTION_WITHOUT_TO = word_set("home here there abroad downtown upstairs outside inside")
WEEKDAYS_MONTHS = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august "
    "september october november december"
)
PAST_MARKERS = word_set("yesterday ago last")
GERUND_VERBS = word_set(
    "enjoy avoid finish keep stop suggest mind practise practice consider recommend imagine admit deny quit risk "
    "miss dislike appreciate start begin like love hate prefer spend"
)
INFINITIVE_VERBS = word_set(
    "want need decide hope plan learn try expect promise refuse agree seem offer wish manage fail choose ask tell "
    "help like love hate start begin forget remember used able ready easy hard difficult important impossible "
    "possible"
)
IRREGULAR_ADVERBS = {"good": "well", "well": "good", "hard": "hardly", "fast": "fastly", "late": "lately"}

# Function words ------------------------------------------------------------------------------------------------------

PREPOSITION = parse_table("""
in: on*5 of*5 at*3 to*2 for with into from during by inside; on: in*14 at*2 of*2 to for about over with
at: in*9 on*2 to of for; to: for*5 in*3 of*2 at with on into from
for: to*7 of*2 in*2 about with on by since during at; of: in*4 to*3 for*2 from on about with
with: by*3 to*2 of*2 for*2 in*2 from on at; by: with*4 from*3 of*2 in*2 for on through to at
from: of*4 by*2 in*2 to for with since at on out_of; about: of*4 for*2 on in to with; into: in*5 to*3 on inside at
during: in*3 for*3 on while at along; since: from*4 for*3 in during; through: by*2 in across for throw though on
over: about above on; between: among in of for; among: between*3 in of; against: to with for of
without: with no out_of; until: since*2 by*2 till; before: ago*2 until after; after: before since later of
within: inside in; towards: to for at; across: through*2 on in at; around: about at; near: near_to*2 near_of*2 next
behind: after back_of in; under: in below by on; throughout: during in; like: as*4 such_as; as: like*3 than for how
than: that*2 then*4 as from to of
""")

# Head word (lemma or exact form) and the preposition that it governs -> what learners write instead; `-` drops it.
GOVERNED = parse_table("""
depend on: of*4 from*2 in -; interested in: on*2 about*2 for to of by; good at: in*3 on of with; bad at: in*2 on for
married to: with*4; marry -: with*3 to; afraid of: from*2 about to by; arrive at: to*4 in - on
arrive in: to*4 at on -; different from: of*2 to with than that; responsible for: of*3 to about in
consist of: in*2 from on by -; listen to: -*4 at for; think about: in of to -; think of: in on to
dream of: with to for on; dream about: with of in; worried about: for*2 of with in; worry about: for*2 of with -
proud of: for*2 about from with; participate in: on to at of -; look at: to*2 in - on; look for: to at -*2
look after: for at to; wait for: -*4 to at; ask for: -*2 to about; search for: -*2 to of; pay for: -*3 to of
agree with: to at in on -*2; succeed in: on at to of; concentrate on: in*3 at to; focus on: in*3 at to about -
rely on: in of to at -; insist on: in to for; believe in: on to at -*2; belong to: for in - at
similar to: with*2 as from of; full of: with*2 by from; famous for: of about by because_of with
aware of: about*2 with to on; capable of: to for in; tired of: from*2 about with; bored with: of by from
fond of: about for to; kind of: - about; reason for: of*3 to why about; solution to: of*3 for; answer to: of for on
access to: of for in -; reply to: - at for; explain to: -*3 for; talk to: with at -; talk about: of*2 on -
speak to: at for -; tell about: of to; speak about: of on -; connected with: to by in; made of: from by with
suffer from: of*2 by with in; protect from: of by to; prevent from: to of for; accuse of: for*3 about by
blame for: of to about; apologize for: of about to; apologise for: of about to; laugh at: of about on to
smile at: to for on; point at: to on; shout at: to on; angry with: at on to about; angry at: with for on
satisfied with: of by in for; disappointed with: of by from in; surprised at: of with for from
congratulate on: for*3 about in; thank for: of to about because; borrow from: of to at by; steal from: of to at by
translate into: in*2 to at; divide into: in*3 to by; turn into: in to on; lead to: in - at for; lack of: in for about
increase in: of*2 on at; decrease in: of*2 on at; rise in: of*2 on; advantage of: in for to on
effect on: in*2 to*2 for of; influence on: in to for of; impact on: in to for of; attention to: on at for in
access -: to; go to: in*2 at*2 -*3 for on; come to: in*2 at*2 - on; get to: in at - on; travel to: in*2 at -
move to: in at - into; return to: in at back_to -; live in: at*2 on - to; stay at: in*2 on to; stay in: at*2 on
work in: at on into; work for: in to at with; study at: in on to; spend on: in for to with; deal with: about of to in
according to: with*3 for of -; due to: of for by at; because of: from by for -*3; instead of: to from - for
thanks to: for of by
""")

# Verbs that take an object without a preposition, and the one that learners insert.
INTRUSIVE = parse_table("""
discuss: about*5 on; enter: to*3 into*2 in; answer: to*3; contact: with*3 to; marry: with*3 to; reach: to*3 at
visit: to*3 in at; lack: of*3; approach: to; call: to*2; ask: to*3; tell: to*4; join: to in with; attend: to*3 at in
affect: to*2 on; influence: on to; help: to; meet: with*2 to; mention: about*3; describe: about*2 of; explain: about*3
consider: about*2 as; request: for*2; demand: for; emphasize: on*2; face: with to; leave: from*2; need: of to
love: to; phone: to; inform: to; advise: to; resemble: to with; await: for; enjoy: with of; watch: to; use: of
follow: to; thank: to; teach: to; show: to
""")

DETERMINER = parse_table("""
a: one; the: these this; this: these*5; these: this*6 that; that: those*2
those: that*4 this; some: any*4 a*2; any: some*2 a; much: many*6 a_lot lot_of; many: much*6 a_lot lot_of
few: little*3 less a_few*2; fewer: less*4 few; less: fewer more_few; little: few*2 small less
every: all*3 any every_the; each: all*2 both; all: every*4 whole all_of; another: other*5 an_other*2 others one_other
other: another*3 others*4 the_other; others: other*4 another the_others; both: two*2 the_both; my: me*2 mine i
your: you*3 you're*3 yours; his: he*2 him*2 her*2 he's; her: his*3 she*2 hers
its: it's*6 his*2 her it; our: are*2 us ours we; their: there*4 they're*2 his*2 they them
such: so so_a; such a: a_such*2 so*2 such_an such; a lot of: lot_of*2 a_lots_of many a_lot; enough: too to_enough
""")

PRONOUN = parse_table("""
i: me my; he: she*3 him*2 his; she: he*3 her it; they: their*3 them*2 he; we: us*2 our*2; me: i*3 my to_me
him: he*3 his; her: she*2 him*2 his; them: they*3 it*2 their; us: we*3 our; it: its*2 is; who: which*5 what whom how
which: what*4 who*2 wich*2; that: what*5 who; whose: who's*3 which who; what: that*2 which*3 how
where: which*2 were*3 when there; mine: my me; yours: your your's*2; theirs: their there
myself: me*2 my_self*2 mysefl; themselves: theirself them*2 themself*3 their_selves; himself: him hisself*2 him_self
ourselves: us ourself*3; everyone: everyones all_people every_one*2 everybodies
everything: every_thing*2 all_thing all_things; someone: some_one*2 somebody_else anyone
anyone: someone any_one*2 everyone; something: some_thing anything*2 somethings*2
anything: something*3 nothing*2 any_thing; nothing: anything*2 no_thing; one: ones it; ones: one*3
""")

CONJUNCTION = parse_table("""
and: an*3 with; but: however though; or: and*2 nor ou; so: that because so_then
because: because_of*2 cause*3 becouse for that as; because of: because*4 due; although: despite*4 even
despite: although*2 despite_of*4 in_spite; while: meanwhile*2 during*3; when: while where*2 if
if: when*3 weather wether*2; whether: wheather*2 weather*3 wether*3 that; as: like*3 how than such
unless: if if_not until; until: by since*2; therefore: so_that for_that_reason; however: how_ever but*2
moreover: more_over also; that: what*3
""")

# Homophones, near-homophones and pairs that look alike: real words that a spelling checker passes.
CONFUSED = parse_table("""
their: there*4 they're*2; there: their*4 they're they; they're: their*4 there*3; your: you're*4 you*2 yor
you're: your*6 you're_are; its: it's*6; it's: its*6 it; than: then*6 that; then: than*5 that; to: too*2 two
too: to*6 two; two: to too; affect: effect*5; affects: effects*4; affected: effected*4; effect: affect*5
effects: affects*4; lose: loose*6; losing: loosing*5; loses: looses*4; loose: lose*4; quite: quiet*5 quit
quiet: quite*5; whose: who's*4; who's: whose*4; were: where*3 was we're*2; we're: were*5; where: were*4 wear
was: as; of: off*2; off: of*4; accept: except*4 expect; except: accept*3 expect; advice: advise*4
advise: advice*4; choose: chose*4 chosse; chose: choose*3; led: lead*4; past: passed*3; passed: past*3
weather: whether*3 wheather*2; whether: weather*3; hear: here*4; here: hear*3; know: now*3 no; now: know*3
knew: new*3; new: knew; by: buy bye; buy: by*3; right: write*2 rigth; write: right*2; threw: through*3 throw
through: threw*2 trough*3 thru*2; though: thought*3 through tough; thought: though*3 taught; tough: though*2
taught: thought*2; desert: dessert*3; dessert: desert*4; principle: principal*4; principal: principle*4
complement: compliment*3; compliment: complement*3; personal: personnel; stationary: stationery*3; breath: breathe*4
breathe: breath*4; cloth: clothe; clothes: cloths*4 cloth; peace: piece*3; piece: peace*2 peice*2; week: weak*3 weeks
weak: week*3; sea: see*2; see: sea; meat: meet*3; meet: meat*2; plain: plane*3; plane: plain*2; whole: hole*3 all
hole: whole*3; wear: where*2; our: are*3; are: our or; an: and*2; and: an*3; on: one in; one: on*2 won; won: win one
form: from*4; from: form*4; for: four fore; four: for; fourth: forth; forth: fourth*2; aloud: allowed*3
allowed: aloud*3; brake: break*3; break: brake*2; bored: board boring*3; fair: fare; wait: weight*2
weight: wait wieght; site: sight*2 side; sight: site*2; side: site; steal: steel*2; heard: herd; high: hight hi
hour: our*2; knows: nose; flour: flower*2; mail: male; tail: tale; sun: son; son: sun; war: was
live: life*3 leave*3 life; life: live*4; lives: lifes*4; leave: live*3 left; leaving: living*2; fell: felt*3 fall
felt: fell*3 feeled; feel: fell*3 fill*2; fill: feel fell; full: fully; this: these this's; these: this*3
think: thing*3 thinks; thing: think*3 things; things: thinks*3; with: whit*2 which; which: witch*3 wich*4
witch: which; price: prize*2; prize: price*3; no: not*2 know; not: no*3 don't; rise: raise*2; sense: since*2
since: from*3 for*3; else: elese also; woman: women*4; women: woman*4 womens*2; man: men*3; men: man*3
ensure: insure*2 assure; everyday: every_day; maybe: may_be*4; may be: maybe*4; already: all_ready*2 allready*3
altogether: all_together*3; every day: everyday*6; any more: anymore*3; all right: alright*2; cannot: can_not*3 cant*2
could have: could_of*4 could_had; would have: would_of*4 would_has; should have: should_of*4; must have: must_of*3
might have: might_of*2; used to: use_to*4; supposed to: suppose_to*5; going to: gonna*2 go_to*2; lead: led*2
bare: bear; quit: quite*2; bear: bare; course: coarse*2; coarse: course; dose: does; does: dose*3 do*2; lie: lay*2
lying: laying*3; lay: lie; later: latter*3 latest; latter: later*3; moral: morale*2; morale: moral; precede: proceed
proceed: precede; respectively: respectfully; sit: seat*2 set; seat: sit*2; shore: sure; sure: shure*2; cite: site*2
conscious: conscience*2; conscience: conscious*2; council: counsel*2; device: devise*2; devise: device
emigrate: immigrate*2; immigrate: emigrate*2; historic: historical*2; lightning: lightening*3; minute: minuet
perspective: prospective*2; thorough: through*2 throughout
""")

# Small words that hasty fingers turn into other small words.
MISTYPED = parse_table("""
and: an*5 ad adn*2; an: and*3 a*2; any: an and; as: a is*2 at; at: a as*2 an; be: by*3 me; by: be*2 my; but: bu by
can: ca cant; for: fro*3 or of four; from: form*5 for*3; get: ge got; has: have as had; have: has hav*2 hve
he: the her; her: he here*2; him: his; his: is*2 he this him; if: of*3 is it; in: on*2 is*3 it*2 an i
is: it*3 in*2 as if s; it: is*3 in i if; its: it*3 is; more: mor; my: me by; no: on know; not: no*2 now*2 nto
now: no not*2 know; of: if*3 or*2 o off; on: one*3 in*2 no; one: on*4; or: of*2 on; our: or out; out: our*2 ou
she: he se; so: do to; some: same; than: that*4 then*5; that: than*4 thta*2 hat taht
the: he*2 they*2 th te*2 teh*4 then to; their: the*3 there*2 thier*3; them: then*4 the; then: the*2 them than*3
there: their*3 here; these: the this*2; they: the*5 then thy them; this: his thsi*2 these thi; those: these
to: too*2 t of; use: us; used: use*3; was: wa were has as; we: were*2 he; were: where*2 we*3 was
what: that*2 wat waht; when: then wen whne; where: were*4; which: wich*2 whcih whic; who: how*2; will: wil well
with: wit*3 wiht*2 which whit; would: woud wold; you: your*5 yo yuo; your: you*5 yours; just: jsut*2; only: onyl
even: event ever; every: very ever; very: every; been: being be bean; being: been; could: coud cold; should: shoud
about: abot abuot; also: aslo als; other: oter another; through: though*2 throught*2 thorugh
though: through*2 thought*3; thought: though*3; know: now*2 konw
""")

# Word -> what slips in after it.
SUPERFLUOUS = parse_table("""
return: back*2; returned: back*2; repeat: again*2; although: that but; because: of*2 that; despite: of*4; many: of
some: of all; every: the one; without: of the; inside: of*2; near: to*2 of; where: that; if: that; very: much
must: to; should: be; could: be; will: be*2; like: as; such: as a; since: from; am: be; don't: be; not: to be; all: the
both: the*2 of; people: who; as: a; each: of the; another: one; same: as; than: the as; how: is the to; what: that is
why: that; they: all; known: as; called: as; too: much; enough: of; want: that for; know: about that; use: to
during: the of; on: the; go: to; went: to; come: to; back: to; about: that; before: that; after: that; let's: to
please: to; raise: up; rise: up; meet: up; enter: in; join: together; first: of; only: just; year: old; years: ago
reason: why; who: are; this: is; in: there; have: to been; has: to; just: only; so: that; most: more; one: of; we: all
really: very; now: currently; again: back; also: as; other: else; still: yet; often: usually
""")
# Of these only some are followed by a word too many, for they are in every sentence.
EVERYWHERE = word_set("in have has this as on be will they who so all")
