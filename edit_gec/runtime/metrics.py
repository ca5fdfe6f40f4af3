"""Counters of the server, for Prometheus at /metrics. They hold no text.

edit_gec_requests_total{route="/v2/check",status="200"} 12
edit_gec_sentences_total{source="cache"} 31
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from edit_gec.runtime.timing import BatchTiming

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self.registry = registry
        name = "edit_gec_{}".format
        self.requests = Counter(name("requests"), "Requests answered.", ["route", "status"], registry=registry)
        self.seconds = Histogram(
            name("request_seconds"), "Time to answer.", ["route"], buckets=SECONDS, registry=registry
        )
        self.in_flight = Gauge(name("requests_in_flight"), "Requests being answered.", registry=registry)
        self.characters = Counter(name("characters"), "Characters of text that were checked.", registry=registry)
        self.sentences = Counter(name("sentences"), "Sentences, by where from.", ["source"], registry=registry)
        self.edits = Counter(name("edits"), "Edits proposed.", registry=registry)
        self.waiting = Gauge(name("sentences_waiting"), "Sentences in the queue of the model.", registry=registry)
        self.batch_size = Histogram(
            name("batch_sentences"), "Sentences in a batch.", buckets=(1, 2, 4, 8, 16, 32, 64), registry=registry
        )
        self.stages = Counter(name("model_seconds"), "Time of the model, by stage.", ["stage"], registry=registry)
        self.steps = Counter(name("decoder_steps"), "Steps of the insertion decoder.", registry=registry)

    def batch(self, sentences: int, timing: BatchTiming) -> None:
        """Count one batch of the model."""
        self.batch_size.observe(sentences)
        self.steps.inc(timing.steps)
        self.stages.labels("encoder").inc(timing.encoder_s)
        self.stages.labels("steps").inc(timing.steps_s)
        self.stages.labels("other").inc(timing.other_s)
        self.stages.labels("verify").inc(timing.verify_s)

    def text(self) -> bytes:
        """All of it, in Prometheus' text format."""
        return generate_latest(self.registry)
