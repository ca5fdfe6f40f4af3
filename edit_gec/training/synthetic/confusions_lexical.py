"""What English writers confuse, content words and set phrases: hand-written tables, data only.

Same notation as confusions.py. Verbs and nouns are listed by lemma; the rules carry the inflection over ("made
homework" for "did homework"). Only words that are wrong in each other's place belong here; synonyms would teach to
rewrite.
"""

from __future__ import annotations

from edit_gec.training.synthetic.confusions import Table, parse_table

VERB = parse_table("""
make: do*5; do: make*5; say: tell*5 speak*2 talk; tell: say*5 speak talk; speak: talk*3 say tell
talk: speak*3 tell say; look: see*4 watch*2; see: look*4 watch*3 look_at; watch: see*4 look*3; hear: listen*4
listen: hear*4; learn: study*3 know*2 teach*2; study: learn*4; teach: learn*5; bring: take*3 make
take: bring*3 make*2 catch get; lend: borrow*5; borrow: lend*4; know: meet*2 learn find_out; meet: know*3 see find
get: become*2 have; have: take*2 be*2 do; be: have*2; remember: remind*4 memorize; remind: remember*4
win: earn*2 beat*2 gain; earn: win*4 gain; beat: win*4; gain: win*2 earn; rise: raise*4; raise: rise*4 grow
lie: lay*4; lay: lie*3; spend: pass*4 cost waste; pass: spend*2; let: make*2 leave*2; allow: let*3
leave: let*2 live*2; live: leave*3; stay: be live keep; keep: stay*2; find: know*2 meet; wear: dress*3 put
dress: wear*2; grow: grow_up raise; want: would wish; wish: hope want; hope: wish*3; expect: wait*2
wait: attend*2 expect; give: do*2 make; drive: conduct*2; ride: drive*3; pay: spend*2; buy: pay*2; turn: become
become: be get turn*2; seem: be look; feel: fell fill; happen: pass*3 occur_to; ask: question tell*2 say*2
offer: propose*2; suggest: propose tell; discuss: talk*3; miss: lose*4; lose: miss*3 fail; fail: lose
achieve: arrive*2 reach; reach: achieve*2 arrive*2; improve: increase*2 grow; increase: grow*2 raise*2 improve
reduce: decrease*2 less; cause: make*2; affect: effect*4; solve: resolve*3; enjoy: like fun*2; travel: trip*2
work: job; sit: seat*2; steal: rob*3; rob: steal*3; refuse: deny*3; deny: refuse*2; avoid: prevent*3 evade
prevent: avoid*2; damage: hurt; cure: heal treat; notice: remark*2
""")

NOUN = parse_table("""
travel: trip*3 travelling; trip: travel*5 voyage; journey: travel*4; job: work*2; work: job*2; person: people*4
people: person peoples*4; price: prize*3; fun: funny*2; house: home; home: house*3
opportunity: possibility*3 occasion*2; chance: possibility*3 occasion; possibility: opportunity*2; problem: trouble*2
meal: food*3; dish: plate*3; game: play*3; match: game; hobby: habit; habit: custom*2 use; custom: habit use
subject: theme*2 matter; topic: theme*3; experience: experiment*3; experiment: experience*3; story: history*4
history: story*3; space: place*2; shade: shadow*3; shadow: shade*3; menu: card; company: enterprise*3 society
countryside: nature*2 country; view: sight*2 vision; amount: number*3 quantity; customer: client*2
employee: employer*3 worker; employer: employee*2; neighbor: neighbourhood; neighbour: neighbourhood
influence: affect*3; effect: affect*5; advantage: benefit profit*2; disadvantage: minus*2 inconvenience*2
decision: election choice; choose: choice; mistake: fault*3 error; fault: mistake*2; death: dead*4 die; life: live*4
belief: believe*4; proof: prove*3; advice: advise*3; success: succeed*3; loss: lose*2 lost*2; height: high*2 hight
strength: strong strenght*2; growth: grow*2; knowledge: knowledges*2; ability: possibility*3; boss: chief*3
chef: cook chief; cook: cooker*4; kitchen: cuisine*2
""")

ADJECTIVE = parse_table("""
tall: high*4; high: tall*3 height; fun: funny*5; funny: fun*3; strong: hard*2; heavy: strong*3 hard; little: few*2
sensitive: sensible*4; sensible: sensitive*3; economic: economical*3 economy*2; economical: economic; alone: lonely*3
lonely: alone*3; last: latest past; latest: last*3; next: following near; near: nearly next_to_of closed
close: near closed*2; closed: close*3; open: opened*3; true: truth*3; common: usual; usual: usually*3; actual: current
current: actual*4; foreign: strange*2 stranger; strange: foreign; interested: interesting*5 interest*2
interesting: interested*4 interest; bored: boring*5; boring: bored*4; excited: exciting*5; exciting: excited*4 excite
surprised: surprising*3 surprise*2; surprising: surprised*3; tired: tiring*3 tire; confused: confusing*4 confuse
confusing: confused*3; amazing: amazed*3; amazed: amazing*3; disappointed: disappointing*3 disappoint
disappointing: disappointed*3; frightened: frightening*2 frighten; worried: worrying*2 worry*2; relaxed: relaxing*3
relaxing: relaxed*3; tiring: tired*3; safe: save*4; dead: died*4 death*2; worth: worthy*3 worthwhile
possible: able*2 possibly; able: capable can; healthy: health*3; dangerous: danger*4
different: difference*3 differents*2; difficult: difficulty*4; easy: easily*2 ease; famous: popular fame*2
necessary: need*2 needed neccessary; important: importance*2; convenient: comfortable*2 convenience
comfortable: convenient*2 comfort; successful: success*3 succesful*2; beautiful: beauty*3 beautifull*2; angry: anger
hungry: hunger; proud: pride*2; wise: wisdom; afraid: fear*2 scary*2; scared: scary*3 scare; scary: scared*2
expensive: high*2 cost; cheap: low*2; fast: fastly; late: lately delay*2; early: soon; such: so; similar: same*3 alike
much: very*3 many*3; very: much*3 so_much; too: very*2; hardly: hard*3; hard: hardly*4; recently: lately last
also: too*3; too much: too_many*3 very_much; too many: too_much*3; still: yet*3 already; yet: already*2 still*3
already: yet*3; ago: before*4; before: ago*2; ever: never*3; never: ever*3 don't_never; almost: most*4
most: almost*3 mostly; mostly: most almost; especially: specially*5 special; specially: especially*3
sometimes: sometime*4; sometime: sometimes; at first: first*2 at_the_first; first: firstly
finally: at_last lastly finaly; after: later*2; later: after*3 latter*2; abroad: aboard*3 foreign oversea
""")

# Whole phrases, left as written -> right as learners write it.
PHRASE: Table = parse_table("""
on the other hand: in_the_other_hand*4 by_the_other_hand on_other_hand*2 on_the_other_side*2
in my opinion: on_my_opinion*2 in_my_opinion, by_my_opinion from_my_opinion for_my_opinion to_my_opinion
for example: for_exemple*2 by_example as_example for_instances for_example:; take a photo: make_a_photo*3 do_a_photo
take a picture: make_a_picture*3; take pictures: make_pictures*3; take photos: make_photos*3
took pictures: made_pictures*3; take part in: take_a_part_in*2 take_part_on take_part_of
make a mistake: do_a_mistake*4; make mistakes: do_mistakes*4; make a decision: take_a_decision*2 do_a_decision*2
have breakfast: take_breakfast*2 eat_a_breakfast do_breakfast; do homework: make_homework*4
do my homework: make_my_homework*4 do_my_homeworks*2; have fun: make_fun*2 have_funny*2 do_fun
have a good time: pass_a_good_time*2 have_good_time*2 spend_a_good_time*2
pay attention: make_attention*2 put_attention*3 pay_an_attention*2
at the same time: in_the_same_time*5 at_same_time*3; at the end: at_end*2 on_the_end in_the_end*2
in the end: at_the_end*4 on_the_end; at the moment: in_the_moment*3 in_this_moment*3 at_moment
at least: at_less*2 at_last*2 in_least; at first: in_first at_the_first*3 on_first; at last: in_last at_the_last*2
at night: in_the_night*2 in_night*2 on_night at_the_night*2; at home: in_home*3 at_the_home*2 in_the_home*2
at work: in_work*2 in_the_work at_the_work*2; at school: in_the_school*2 in_school at_the_school*2
in the morning: at_the_morning*3 on_the_morning*2 in_morning*2
in the afternoon: at_the_afternoon*3 in_afternoon*2 on_the_afternoon
in the evening: at_the_evening*3 on_the_evening*2 in_evening*2
on the weekend: in_the_weekend*3 at_weekend*2 on_weekend*2; in fact: infact*3 in_the_fact*2 on_fact
in order to: in_order*3 for_to*2 on_order_to; in addition: in_addiction*2 on_addition in_adition*2
in the world: on_the_world*2 of_world in_world*2 all_over_world
in the future: in_future*3 on_the_future*2 at_the_future; in the past: on_the_past*2 in_past*3 at_the_past
in front of: in_front*2 infront_of*3 in_the_front_of*2 on_front_of; as soon as: as_soon_than as_soon*2 so_soon_as
as well as: aswell_as*2 as_well*2 so_well_as; as far as: so_far_as as_far_i
a lot of: alot_of*4 lot_of*4 a_lots_of*3 lots_off; lots of: lot_of*4 alot_of*2 a_lots_of*2; a lot: alot*6 lot*2 a_lots
a few: few*4 some_few; a little: little*3 a_littles
all over the world: all_over_world*2 in_all_the_world*3 all_around_world
all the time: all_time*2 every_the_time in_all_the_time; more and more: more_an_more each_time_more*2 always_more
most of the: most_the*2 the_most_of*3 most_of*2 almost; most of: most*2 almost_of the_most_of*2
one of the: one_the*2 one_of*3 one_the_of; some of: some*2 any_of
the same as: the_same_that*2 same_as*3 the_same_like*3; such as: like_as such_like so_as as*2
so that: for_that*3 so_as; as if: like_if*2 as; even if: even_though even*2 if_even
even though: even*3 even_if eventhough*3 although_even; each other: eachother*4 one_to_other*2 each_others*3
would like to: would_like*3 want_like_to will_like_to*2 like_to*2; i would like: i_like i_would*2 i_want_like
look forward to: look_forward*4 look_forwards_to
looking forward to: looking_forward*4 looking_for*2 looking_foward_to*2; used to: use_to*5 was_used_to*2 used
have to: must_to*3 has_to*2 have*2; has to: have_to*4 must_to*2 has; had to: have_to*3 had*2 must_to
able to: able*2 able_for; need to: need*3 must_to; want to: want*3 wants_to; i think: i_thing*3 i_thinks
i agree: i_am_agree*5 i'm_agree*4; agree with: agree*2 am_agree_with*2; i don't: i_not*2 i_dont*4 i_doesn't
there is: there_are*3 there's_is it_is*2 is*2 it_has*2 have*2
there are: there_is*4 there_have*2 they_are*2 are*2 have*2; there was: there_were*3 it_was*2 was there_is
there were: there_was*4 were there_are; it is: is*4 its*3 it's_is; it was: was*4 it_were it_is
how to: how*2 how_can how_do; what is: what*2 what_it_is what's_is; what do you: what_you*3 what_are_you what_does_you
do you: you*3 does_you*2 are_you*2; did you: do_you*3 you*2 have_you; why don't: why_not why_you_don't
how much: how_many*4 how_much_of; how many: how_much*4; how old: how_many_years
that is why: that's_because that_why*3; thank you for: thanks_you_for*2 thank_for*2 thank_you_to*2
years old: years*3 year_old*3 years_olds old_years; years ago: years_before*3 year_ago*3 ago_years
last week: the_last_week*3 last_weeks in_last_week*2; last year: the_last_year*3 in_last_year*2
last night: yesterday_night*3 the_last_night*2 in_last_night; next week: the_next_week*3 in_next_week*2
next year: the_next_year*3 in_next_year*2; every day: everyday*5 every_days*3 all_days*2 in_every_day
on foot: by_foot*3 on_feet*2; by car: with_car*2 in_car on_car by_a_car*2
by train: with_train*2 in_train by_the_train*2; by bus: with_bus*2 in_bus by_the_bus*2
with each other: with_each_others each_other; no longer: not_longer*2 no_more; not only: no_only*4
better than: more_better_than*2 better_then*3 better_that; more than: more_that*2 more_then*3 more_of*2
less than: less_that*2 less_then*3; rather than: rather_then*4 rather_that; other than: other_then*3
go shopping: go_to_shopping*3 go_for_shopping*2 do_shopping go_shop*2
go home: go_to_home*4 go_at_home*2 go_to_my_home; went home: went_to_home*4 went_at_home; go abroad: go_to_abroad*3
go swimming: go_to_swim*2 go_swim*2; play the piano: play_piano*3 play_at_piano
play football: play_the_football*2 play_at_football; watch tv: see_tv*3 watch_the_tv*2 look_tv*2
listen to music: listen_music*5 hear_music*2 listen_the_music*2 listening_music; explain to me: explain_me*4
said to me: said_me*3 told_to_me*2; told me: said_me*3 told_to_me*3 tell_me*2
""")

# Families of words that the suffix rules do not find -> another member, wrong in its place.
FAMILY = parse_table("""
beauty: beautiful*3; succeed: success*3 successful; success: succeed*3 successful*2; science: scientific scientist*2
scientist: science*2 scientific; scientific: science*3 scientist; produce: product*2 production*2
product: produce*3 production; explain: explanation*3; explanation: explain*2; believe: belief*3
strong: strength*3 strongly; strength: strong*2; long: length*2; length: long*2; true: truth*3; truth: true*3
free: freedom*2 freely; freedom: free*3; safe: safety*3 safely; safety: safe*3; able: ability*2; ability: able*2
compete: competition*2; competition: compete*2 competitive; describe: description*3; description: describe*2
decide: decision*2; decision: decide*3; economy: economic*3 economics*2; nature: natural*3; culture: cultural*3
danger: dangerous*3; dangerous: danger*4; possible: possibility*3; music: musical musician
politics: political politician; politician: politics*2 political; know: knowledge*2; poor: poverty*3 poorly
poverty: poor*3; high: height*2 highly; wide: width; hot: heat*2; heat: hot*2; hunger: hungry*2; anger: angry*3
pride: proud*3; live: life*2 alive; die: death*3 dead*3; death: die*2 dead*4; choose: choice*3; lose: loss*3 lost*2
grow: growth*2; think: thought*2; thought: think*2; sell: sale*3; sale: sell*2; prove: proof*3; speak: speech*2
weigh: weight*3; marriage: marry*2 married*2; marry: marriage*2 married*2; arrive: arrival*2; arrival: arrive*2
refuse: refusal; behave: behavior*2 behaviour*2; behavior: behave*2; behaviour: behave*2; various: variety*2 vary
variety: various*2; fame: famous*3; famous: fame*3; wise: wisdom*2; peace: peaceful*2; peaceful: peace*2
industry: industrial*2; industrial: industry*2; history: historical historic; historical: history*3
religion: religious*2; religious: religion*2; environment: environmental*3; environmental: environment*3
education: educational educate*2; confidence: confident*3; confident: confidence*3; violence: violent*3
silence: silent*2; silent: silence*2; patience: patient*2; energy: energetic*2; enthusiasm: enthusiastic*2
medicine: medical*2; medical: medicine*2; sick: sickness*2; crime: criminal*2; criminal: crime*2; jealous: jealousy*2
luck: lucky*3; lucky: luck*3; noise: noisy*2; noisy: noise*3; health: healthy*3; healthy: health*3
wealth: wealthy*2 rich; comfort: comfortable*3; effect: effective; effective: effect*2 effectively
compare: comparison*2; comparison: compare*3; analyze: analysis*2; analysis: analyze*2; emphasis: emphasize*2
practice: practical; laugh: laughter; laughter: laugh*2; tour: tourism*2 tourist*2; employ: employee*2
use: usage useful
""")
