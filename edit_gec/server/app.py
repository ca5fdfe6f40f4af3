"""The application: LanguageTool's routes, our own, metrics and the page.

    app = create_app(Corrector.load(), Limits())      # any ASGI server runs it; the command uses uvicorn
    POST /v2/check     text=She go home.&language=en-US
    POST /v1/correct   {"text": "She go home."}

Handlers read a request, correct its text and build the answer. Everything else is in middleware.py.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from fastapi import APIRouter, FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from edit_gec.config.load_settings import STRICTNESS
from edit_gec.config.projects import Projects
from edit_gec.config.settings import Settings
from edit_gec.corrector import Corrector
from edit_gec.errors import EditGecError, InputError
from edit_gec.runtime.async_corrector import AsyncCorrector, SentenceResult, Stages, join
from edit_gec.runtime.dynamic_batching import Busy
from edit_gec.runtime.metrics import CONTENT_TYPE, Metrics
from edit_gec.server import languagetool, schema, words
from edit_gec.server.callers import Callers
from edit_gec.server.fields import read_fields
from edit_gec.server.matches import OURS, merge_matches
from edit_gec.server.middleware import Limits, RequestGuard, error_response, log_fields
from edit_gec.text import language_id
from edit_gec.text.edits import Edit, Places
from edit_gec.text.formats import PLAIN, check_format
from edit_gec.version import version

if TYPE_CHECKING:
    from edit_gec.server.upstream import Upstream  # needs httpx

MOST_FAULTS = 5  # of a JSON body that are named
PICKY_FACTOR = 0.5  # level=picky multiplies the confidence threshold by this
PAGE_FOLDER = Path(__file__).parent / "page"
PAGE_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
PAGE_NAMES = {"index.html": "/", "docs.html": "/docs"}  # other files are served under their own names
Result = TypeVar("Result")
router = APIRouter()


def create_app(
    corrector: Corrector,
    limits: Limits,
    callers: Callers | None = None,
    *,
    projects: Projects | None = None,
    upstream: Upstream | None = None,
) -> FastAPI:
    """The ASGI application. `callers` says who may use it; the default is everyone but web pages of other origins.

    With `projects`, the settings of the working folder apply to every text, and clients may change the user's words.
    With `upstream`, its matches are merged with ours in LanguageTool's protocol.
    """
    callers = callers or Callers()
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.corrector = AsyncCorrector(corrector, metrics, max_waiting=limits.waiting)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(app.state.corrector.close)
            if upstream is not None:
                await stack.enter_async_context(upstream)
            yield

    app = FastAPI(
        title="edit-gec",
        version=version(),
        description="Grammatical error correction: our own endpoints, and LanguageTool's protocol.",
        lifespan=lifespan,
        docs_url=None,  # FastAPI's page loads scripts from other hosts; ours replaces it at /docs
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.limits = limits
    app.state.metrics = metrics
    app.state.projects = projects
    app.state.upstream = upstream
    _add_routes(app)
    app.add_middleware(RequestGuard, limits=limits, metrics=metrics, callers=callers)
    if callers.origin:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[callers.origin],
            allow_methods=["*"],
            allow_headers=["*"],
            allow_private_network=True,  # an allowed web page may ask a server on this machine
        )
    return app


def _add_routes(app: FastAPI) -> None:
    """What is answered: the endpoints, the files of the page, and errors."""
    app.include_router(router)
    app.include_router(words.router)
    for file in sorted(PAGE_FOLDER.iterdir()):
        serve = partial(_serve_file, file.read_bytes(), PAGE_TYPES[file.suffix])
        app.add_api_route(PAGE_NAMES.get(file.name, f"/{file.name}"), serve, include_in_schema=False)
    app.add_exception_handler(Busy, _answer_busy)
    app.add_exception_handler(EditGecError, _answer_user_error)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_exception_handler(RequestValidationError, _answer_invalid)


# --- LanguageTool's protocol -------------------------------------------------------------------------------------


@router.get("/v2/check", openapi_extra=schema.CHECK_GET, responses=schema.CHECK, tags=["LanguageTool"])
@router.post("/v2/check", openapi_extra=schema.CHECK_POST, responses=schema.CHECK, tags=["LanguageTool"])
async def check(request: Request) -> Response:
    """Check a text as LanguageTool does: form fields in, matches with UTF-16 offsets out."""
    fields = await read_fields(request)
    upstream: Upstream | None = None if is_asked_by_us(request) else request.app.state.upstream
    asked = languagetool.parse_request(fields, knows_others=upstream is not None)
    _check_length(request, max(asked.text.document, asked.text.view, key=len))
    detected = language_id.detect(asked.text.view) if asked.detects_language else language_id.ENGLISH_ASSUMED
    is_ours = detected.code == "en" and asked.is_english
    theirs: asyncio.Task[dict[str, Any] | None] | None = None
    if upstream is not None and asked.format == PLAIN:
        theirs = asyncio.create_task(upstream.check(asked.to_fields(fields, is_english=is_ours), asked.utf16_length))
    try:
        found = await _find_ours(request, asked) if is_ours else OwnFindings()
        answer = await _cancel_if_gone(request, _wait(theirs)) if theirs else None
    finally:
        if theirs:
            theirs.cancel()
    if answer is None and not (is_ours or asked.detects_language):
        raise HTTPException(503, "the server of other languages does not answer; try again later")
    log_fields(
        request,
        characters=len(asked.text.document),
        sentences=len(found.sentences),
        edits=len(found.edits),
        **({} if theirs is None else {"upstream": len(answer["matches"]) if answer else -1}),
    )
    if answer is not None and not is_ours:
        return JSONResponse(answer)

    def build() -> JSONResponse:
        own = languagetool.build_answer(asked, found.edits, found.sentences, version=version(), detected=detected)
        if answer is not None:
            own["matches"] = merge_matches(own["matches"], answer["matches"])
        own["warnings"]["incompleteResults"] = theirs is not None and answer is None
        return JSONResponse(own)

    return await run_in_threadpool(build)


class OwnFindings(NamedTuple):
    """What the model finds: edits and sentences, as spans of the view."""

    edits: tuple[Edit, ...] = ()
    sentences: Sequence[tuple[int, int]] = ()


async def _find_ours(request: Request, asked: languagetool.CheckRequest) -> OwnFindings:
    """The edits of an English text, unless the client wants rules about whole texts only."""
    if asked.is_text_level_only:
        return OwnFindings()
    stages = Stages()
    corrector = _find_corrector(request)
    settings = _find_settings(request, asked.dialect)
    if asked.is_picky and not corrector.corrector.predictor.is_exact:  # a target's edits have no threshold to lower
        least = corrector.corrector.with_settings(settings.threshold, None).min_confidence
        settings = settings.override_with(Settings(min_confidence=least * PICKY_FACTOR))
    work = corrector.correct_by_sentence(
        asked.text.view, settings=settings, format=asked.format, explain=True, stages=stages
    )
    _, results = await _cancel_if_gone(request, work)
    suggesting = corrector.suggest(asked.text.view, results, settings, hints=False, stages=stages)
    results = await _cancel_if_gone(request, suggesting)
    return OwnFindings(join(asked.text.view, results).edits, [(result.start, result.end) for result in results])


async def _wait(task: asyncio.Task[Result]) -> Result:
    return await task


def is_asked_by_us(request: Request) -> bool:
    """Whether a server of ours sent this request as to its upstream: a circle of servers would ask for ever."""
    return OURS in request.headers.get("via", "")


def _find_corrector(request: Request) -> AsyncCorrector:
    """The corrector for the client of a request."""
    corrector: AsyncCorrector = request.app.state.corrector
    return corrector.for_client(request.client.host if request.client else "")


def _find_settings(request: Request, dialect: str | None, asked: schema.CorrectionRequest | None = None) -> Settings:
    """The server's own settings. A requested threshold overrides them, a requested dialect does not.

    Raises InputError if a threshold is given both as a number and by its name.
    """
    if asked and asked.strictness is not None and asked.min_confidence is not None:
        raise InputError("min_confidence and strictness: expected one of them, both set the threshold")
    projects: Projects | None = request.app.state.projects
    settings = projects.find_settings("") if projects else Settings()
    if asked and asked.strictness != "default":  # which is the server's own
        settings = settings.override_with(Settings(min_confidence=asked.min_confidence, strictness=asked.strictness))
    return replace(settings, dialect=settings.dialect or dialect)


@router.get("/v2/languages", tags=["LanguageTool"])
async def languages(request: Request) -> list[schema.Language]:
    """The variants of English, and with an upstream its languages."""
    upstream: Upstream | None = request.app.state.upstream
    others = [] if upstream is None or is_asked_by_us(request) else await upstream.languages()
    fields = ("name", "code", "longCode")
    listed = {each["longCode"]: {name: each[name] for name in fields} for each in (*others, *languagetool.LANGUAGES)}
    return [schema.Language(**language) for language in listed.values()]


@router.get("/v2/healthcheck", response_class=PlainTextResponse, tags=["LanguageTool"])
@router.get("/v2", response_class=PlainTextResponse, include_in_schema=False)
async def healthcheck() -> str:
    """Answer OK."""
    return "OK"


@router.get("/v2/info", tags=["LanguageTool"])
async def info() -> dict[str, Any]:
    """Name and version of the server."""
    return {"software": languagetool.describe_software(version())}


@router.get("/v2/maxtextlength", response_class=PlainTextResponse, tags=["LanguageTool"])
async def max_text_length(request: Request) -> str:
    """The largest number of characters of a text, markup included."""
    return str(request.app.state.limits.characters)


# --- our own -----------------------------------------------------------------------------------------------------


@router.get("/v1/info", tags=["edit-gec"])
async def describe_offer(request: Request) -> schema.Offer:
    """The model, what a request may ask for, and what the server's own settings have decided already."""
    corrector: Corrector = request.app.state.corrector.corrector
    names = [name for name in STRICTNESS if name == "default" or name in corrector.presets]
    return schema.Offer(
        model=corrector.folder.name,
        strictness=names,
        dialect=_find_settings(request, None).dialect,
        words=words.reason_to_refuse(request) is None,
        characters=request.app.state.limits.characters,
    )


@router.post("/v1/correct", responses=schema.ERRORS, tags=["edit-gec"])
async def correct(request: Request, asked: schema.CorrectionRequest) -> schema.CorrectionResponse:
    """Correct a text: the corrected text, its edits with offsets in three units, and where the time went."""
    begun = perf_counter()
    stages = Stages()
    _check_length(request, asked.text)
    corrector = _find_corrector(request)
    settings = _find_settings(request, asked.dialect, asked)
    if other := _find_other_language(asked):
        timing = schema.Timing.from_stages(stages, perf_counter() - begun)
        return schema.CorrectionResponse(
            corrected=asked.text, edits=[], refused=[], hints=[], timing=timing, language=other
        )
    work = corrector.correct_by_sentence(asked.text, settings=settings, format=asked.known_format(), stages=stages)
    _, results = await _cancel_if_gone(request, work)
    if asked.suggest:
        results = await _cancel_if_gone(request, corrector.suggest(asked.text, results, settings, stages=stages))
    if asked.explain:
        results = await _cancel_if_gone(request, corrector.explain(asked.text, results, stages))
    correction = join(asked.text, results)
    log_fields(request, characters=len(asked.text), sentences=stages.sentences, edits=len(correction.edits))
    return schema.CorrectionResponse(
        corrected=correction.corrected,
        edits=schema.to_messages(asked.text, correction.edits),
        refused=schema.to_messages(asked.text, correction.refused),
        hints=schema.to_messages(asked.text, correction.hints),
        timing=schema.Timing.from_stages(stages, perf_counter() - begun),
        language=None,
    )


@router.post("/v1/correct/stream", responses=schema.STREAM, response_class=StreamingResponse, tags=["edit-gec"])
async def correct_stream(request: Request, asked: schema.CorrectionRequest) -> Response:
    """Correct a text: a line of JSON for each sentence as soon as it is done; the last has `timing` and `language`."""
    begun = perf_counter()
    stages = Stages()
    _check_length(request, asked.text)
    corrector = _find_corrector(request)
    settings = _find_settings(request, asked.dialect, asked)
    other = _find_other_language(asked)
    read = "" if other else asked.text
    sentences = corrector.sentences(read, settings=settings, format=asked.known_format(), stages=stages)
    places = Places(asked.text)
    first = await anext(sentences, None)  # an error must come before the first byte of the answer

    async def lines() -> AsyncIterator[bytes]:
        async with aclosing(sentences):
            sentence = first
            while sentence:
                if asked.suggest:
                    (sentence,) = await corrector.suggest(asked.text, [sentence], settings, stages=stages)
                if asked.explain:
                    (sentence,) = await corrector.explain(asked.text, [sentence], stages)
                yield _to_json_line(places, sentence)
                sentence = await anext(sentences, None)
        timing = schema.Timing.from_stages(stages, perf_counter() - begun)
        last = {"timing": timing.model_dump(), "language": other and other.model_dump()}
        yield json.dumps(last).encode() + b"\n"

    log_fields(request, characters=len(asked.text), sentences=stages.sentences)
    return StreamingResponse(lines(), media_type="application/x-ndjson")


def _find_other_language(asked: schema.CorrectionRequest) -> schema.OtherLanguage | None:
    found = language_id.find_other(asked.text, check_format(asked.known_format()))
    return found and schema.OtherLanguage(code=found.code, name=found.name)


def _to_json_line(places: Places, sentence: SentenceResult) -> bytes:
    start, end = places.find(sentence.start), places.find(sentence.end)
    line: dict[str, Any] = {
        "start": start.codepoint,
        "end": end.codepoint,
        "start_utf16": start.utf16,
        "end_utf16": end.utf16,
    }
    for name in ("edits", "refused", "hints"):
        line[name] = [edit.model_dump() for edit in schema.to_messages(places.text, getattr(sentence, name), places)]
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _check_length(request: Request, text: str) -> None:
    """Raise HTTPException 413 for a text that is too long."""
    most = request.app.state.limits.characters
    if len(text) > most:
        raise HTTPException(413, f"the text has {len(text)} characters, the limit is {most}")


async def _cancel_if_gone(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, which is cancelled when the client disconnects, as editors do at the next keystroke."""

    async def wait_for_disconnect() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task = asyncio.create_task(work)
    hung_up = asyncio.create_task(wait_for_disconnect())
    try:
        await asyncio.wait([task, hung_up], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise HTTPException(499, "the client is gone")
        return task.result()
    finally:
        task.cancel()
        hung_up.cancel()


@router.get("/metrics", include_in_schema=False)
async def metrics(request: Request) -> Response:
    """Counters for Prometheus."""
    return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE)


async def _serve_file(content: bytes, kind: str) -> Response:
    return Response(content, media_type=kind, headers={"cache-control": "no-cache"})


# --- errors ------------------------------------------------------------------------------------------------------


async def _answer_busy(request: Request, _: Exception) -> Response:
    return error_response(request.url.path, 503, "too many sentences are waiting; try again later")


async def _answer_user_error(request: Request, error: Exception) -> Response:
    return error_response(request.url.path, 400, str(error))


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_response(request.url.path, error.status_code, error.detail)


async def _answer_invalid(request: Request, error: Exception) -> Response:
    """What is wrong with a JSON body, without quoting it, in an answer that does not grow with it."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()[:MOST_FAULTS]
    for each in found:
        each["loc"] = [name[:60] if isinstance(name, str) else name for name in each["loc"]]
    detail = [{name: each[name] for name in ("type", "loc", "msg")} for each in found]
    return JSONResponse({"detail": detail}, 422)
