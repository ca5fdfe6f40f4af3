"""The application: LanguageTool's routes, our own, metrics and the page.

    app = create_app(Corrector.load(), Limits())      # any ASGI server runs it; serve.py uses uvicorn
    POST /v2/check     text=She go home.&language=en-US
    POST /v1/correct   {"text": "She go home."}

Handlers read a request, ask the checker, and shape the answer; all else is in middleware.py.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from edit_gec.corrector import Corrector
from edit_gec.errors import EditGecError, InputError
from edit_gec.runtime.async_corrector import AsyncCorrector, SentenceResult, Stages
from edit_gec.runtime.dynamic_batching import Busy
from edit_gec.runtime.metrics import CONTENT_TYPE, Metrics
from edit_gec.server import languagetool, schema
from edit_gec.server.middleware import Guard, Limits, note, refusal
from edit_gec.text import language_id
from edit_gec.text.edits import Edit
from edit_gec.version import version

PICKY = 0.5  # level=picky lowers the confidence that a drafted edit needs to this part of it
SILENT = 0.5  # language=auto: a text that is less surely English is left alone
PAGE = Path(__file__).parent / "page"
FILES = {
    "/": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/docs": ("docs.html", "text/html"),
    "/docs.js": ("docs.js", "text/javascript"),
}
Result = TypeVar("Result")
router = APIRouter()


def create_app(corrector: Corrector, limits: Limits, *, allow_origin: str | None = None) -> FastAPI:
    """The ASGI application. `allow_origin` lets pages from there (or "*") use it in a browser."""
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.checker = AsyncCorrector(corrector, metrics, max_waiting=limits.waiting)
        yield
        await app.state.checker.close()

    app = FastAPI(
        title="edit-gec",
        version=version(),
        description="Grammatical error correction: our own endpoints, and LanguageTool's protocol.",
        lifespan=lifespan,
        docs_url=None,  # its page loads scripts from elsewhere; ours is at /docs, too
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.limits, app.state.metrics = limits, metrics
    app.include_router(router)
    for path, (name, kind) in FILES.items():
        app.add_api_route(path, partial(_file, (PAGE / name).read_bytes(), kind), include_in_schema=False)
    app.add_exception_handler(Busy, _busy)
    app.add_exception_handler(EditGecError, _bad_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_middleware(Guard, limits=limits, metrics=metrics)
    if allow_origin:
        app.add_middleware(CORSMiddleware, allow_origins=[allow_origin], allow_methods=["*"], allow_headers=["*"])
    return app


# --- LanguageTool's protocol -------------------------------------------------------------------------------------


@router.get("/v2/check", openapi_extra=schema.CHECK_GET, responses=schema.CHECK, tags=["LanguageTool"])
@router.post("/v2/check", openapi_extra=schema.CHECK_POST, responses=schema.CHECK, tags=["LanguageTool"])
async def check(request: Request) -> Response:
    """Check a text as LanguageTool does: form fields in, matches with UTF-16 offsets out."""
    asked = languagetool.question(await _fields(request))
    _check_length(request, asked.text.document)
    confidence = language_id.confidence(asked.text.view) if asked.automatic else 1.0
    edits: tuple[Edit, ...] = ()
    sentences: list[tuple[int, int]] = []
    if not asked.text_level and confidence >= SILENT:
        checker: AsyncCorrector = request.app.state.checker
        picky = asked.picky and checker.corrector.verifier is None  # a target shows all its edits anyway
        least = checker.corrector.thresholds.min_confidence * PICKY if picky else None
        correction, done = await _unless_gone(
            request, checker.correct_by_sentence(asked.text.view, min_confidence=least, markup=False, explain=True)
        )
        edits, sentences = correction.edits, [(each.start, each.end) for each in done]
    answer = languagetool.answer(asked, edits, sentences, version=version(), confidence=confidence)
    note(request, characters=len(asked.text.document), sentences=len(sentences), edits=len(edits))
    return JSONResponse(answer)


async def _fields(request: Request) -> dict[str, str]:
    """The form's fields, of the query or of the body. Raises InputError."""
    raw = [request.scope["query_string"], await request.body()]
    try:
        fields = [
            field
            for part in raw
            for field in parse_qsl(part.decode(), keep_blank_values=True, errors="strict", max_num_fields=100)
        ]
    except UnicodeDecodeError:
        raise InputError("the request is not UTF-8") from None
    except ValueError:
        raise InputError("more than 100 fields") from None
    return dict(fields)


@router.get("/v2/languages", tags=["LanguageTool"])
async def languages() -> list[schema.Language]:
    """The variants of English."""
    return [schema.Language(**language) for language in languagetool.LANGUAGES]


@router.get("/v2/healthcheck", response_class=PlainTextResponse, tags=["LanguageTool"])
@router.get("/v2", response_class=PlainTextResponse, include_in_schema=False)
async def healthcheck() -> str:
    """OK."""
    return "OK"


@router.get("/v2/info", tags=["LanguageTool"])
async def info() -> dict[str, Any]:
    """Name and version of the software."""
    return {"software": languagetool.software(version())}


@router.get("/v2/maxtextlength", response_class=PlainTextResponse, tags=["LanguageTool"])
async def max_text_length(request: Request) -> str:
    """The most characters that a text may have, markup included."""
    return str(request.app.state.limits.characters)


# --- our own -----------------------------------------------------------------------------------------------------


@router.post("/v1/correct", responses=schema.ERRORS, tags=["edit-gec"])
async def correct(request: Request, asked: schema.Text) -> schema.Corrected:
    """Correct a text: the corrected text, its edits with offsets in three units, and where the time went."""
    begun, stages = perf_counter(), Stages()
    checker, options = _asked(request, asked)
    work = checker.correct_by_sentence(asked.text, **options, explain=asked.explain, stages=stages)
    correction, _ = await _unless_gone(request, work)
    note(request, characters=len(asked.text), sentences=stages.sentences, edits=len(correction.edits))
    return schema.Corrected(
        corrected=correction.corrected,
        edits=schema.edits(asked.text, correction.edits),
        refused=schema.edits(asked.text, correction.refused),
        timing=schema.Timing.of(stages, perf_counter() - begun),
    )


@router.post("/v1/correct/stream", responses=schema.STREAM, response_class=StreamingResponse, tags=["edit-gec"])
async def correct_stream(request: Request, asked: schema.Text) -> Response:
    """The same, one line of JSON for each sentence as soon as it is done; the last line holds `timing`."""
    begun, stages = perf_counter(), Stages()
    checker, options = _asked(request, asked)
    sentences = checker.sentences(asked.text, **options, stages=stages)
    first = await anext(sentences, None)  # what is refused is refused before the answer begins

    async def lines() -> AsyncIterator[bytes]:
        async with aclosing(sentences):
            sentence = first
            while sentence:
                if asked.explain:
                    (sentence,) = await checker.explain(asked.text, [sentence], stages)
                yield _line(asked.text, sentence)
                sentence = await anext(sentences, None)
        timing = schema.Timing.of(stages, perf_counter() - begun)
        yield timing.model_dump_json().join(['{"timing":', "}\n"]).encode()

    note(request, characters=len(asked.text), sentences=stages.sentences)
    return StreamingResponse(lines(), media_type="application/x-ndjson")


def _line(text: str, sentence: SentenceResult) -> bytes:
    edits, refused = (
        [edit.model_dump() for edit in schema.edits(text, found)] for found in (sentence.edits, sentence.refused)
    )
    line = {"start": sentence.start, "end": sentence.end, "edits": edits, "refused": refused}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _asked(request: Request, asked: schema.Text) -> tuple[AsyncCorrector, dict[str, Any]]:
    _check_length(request, asked.text)
    checker: AsyncCorrector = request.app.state.checker
    return checker, {"min_confidence": asked.min_confidence, "markup": asked.markup}


def _check_length(request: Request, text: str) -> None:
    most = request.app.state.limits.characters
    if len(text) > most:
        raise HTTPException(413, f"the text has {len(text)} characters, the limit is {most}")


async def _unless_gone(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, which is cancelled when the client hangs up: editors do, at the next key."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    task, hung_up = asyncio.create_task(work), asyncio.create_task(gone())
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


async def _file(content: bytes, kind: str) -> Response:
    return Response(content, media_type=kind, headers={"cache-control": "no-cache"})


# --- errors ------------------------------------------------------------------------------------------------------


async def _busy(request: Request, _: Exception) -> Response:
    return refusal(request.url.path, 503, "too many sentences are waiting; try again later")


async def _bad_request(request: Request, error: Exception) -> Response:
    return refusal(request.url.path, 400, str(error))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refusal(request.url.path, error.status_code, error.detail)


async def _invalid(request: Request, error: Exception) -> Response:
    """What is wrong with a JSON body, without the body."""
    assert isinstance(error, RequestValidationError)
    detail = [{name: each[name] for name in ("type", "loc", "msg")} for each in error.errors()]
    return JSONResponse({"detail": detail}, 422)
