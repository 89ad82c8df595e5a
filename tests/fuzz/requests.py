"""Asks every route of the service's own description: as it should be asked, nearly so, and not at all so."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from tests.fuzz.findings import MEMORY_BYTES, Findings
from tests.fuzz.language import expression
from tests.fuzz.mutations import NUMBERS, ODD, WORDS, bytes_mutated, value_mutated
from tests.fuzz.target import Died, Hung, Reply, Target

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "QUERY")
MEND_EVERY = 500
RAW = 0.03
HEADERS = (
    {"Content-Type": "text/plain"},
    {"If-None-Match": '"x"'},
    {"If-None-Match": "*"},
    {"Range": "bytes=5-1"},
    {"Accept-Encoding": "gzip;q=nan"},
    {"Content-Type": "application/json; charset=utf-16"},
    {"Cookie": "innerview=x"},
    {"Expect": "100-continue"},
)


@dataclass
class Routes:
    """Every operation, and what names, keys and numbers there are to fill in."""

    target: Target
    random: Random
    findings: Findings
    pristine: Path
    operations: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    schemas: dict[str, Any] = field(default_factory=dict)
    pool: dict[str, list[Any]] = field(default_factory=dict)
    _asked: int = 0

    def learn(self) -> None:
        """Read the description, and the names in the study."""
        told = self.target.ask("GET", "/api/openapi.json").json()
        self.schemas = told["components"]["schemas"]
        self.operations = [
            (method.upper(), path, about) for path, ways in told["paths"].items() for method, about in ways.items()
        ]
        self.pool = _names(self.target)

    def step(self) -> None:
        """One request, and the job that it may have started cancelled."""
        self._asked += 1
        if self._asked % MEND_EVERY == 0:
            self.mend()
        method, path, about = self.random.choice(self.operations)
        body = self._body(about)
        asked = self._address(path, about)
        if self.random.random() < 0.02:
            method = self.random.choice(METHODS)
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self.random.random() < 0.05:
            headers |= self.random.choice(HEADERS)
            headers.pop("Expect", None) if body is None else None
        self.send(f"{method} {path}", method, asked, body, headers)

    def expression(self) -> None:
        """One expression, checked or kept as a metric and asked for."""
        recording = self.random.choice(("steps", "memory", "walks", "pairs"))
        text = expression(self.random, self.pool[f"columns of {recording}"])
        self.findings.expressions += 1
        told = {"recording": recording, "expression": text}
        headers = {"Content-Type": "application/json"}
        check = json.dumps(told).encode()
        reply = self.send("expression", "POST", "/api/metrics/check", check, headers)
        if reply is None or reply.status != 200 or reply.json()["problem"] or self.random.random() < 0.5:
            return
        self.send("expression", "PUT", "/api/metrics", json.dumps({**told, "name": "fuzz"}).encode(), headers)
        self.send("expression", "GET", f"/api/recordings/{recording}/columns?names=fuzz")
        self.send("expression", "DELETE", "/api/metrics?name=fuzz")

    def send(
        self, where: str, method: str, asked: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply | None:
        """Ask, and take down whatever should not be."""
        self.findings.requests += 1
        told = f"{where} | {method} {asked[:300]} {(body or b'')[:300]!r}"
        try:
            if self.random.random() < RAW:
                return self._raw(method, asked, body)
            reply = self.target.ask(method, asked, body, dict(headers or {}))
        except Died:
            self.findings.add("death", told, self.target.last_words(), damaged=body or b"")
            return self._again()
        except Hung:
            self.findings.add("hang", told, self.target.last_words(), damaged=body or b"")
            return self._again()
        if reply.status >= 500:
            self.findings.add("5xx", told, self.target.last_words(), damaged=body or b"")
        elif reply.status == 201 and method == "POST" and b'"state"' in reply.body:
            self._cancel(reply.json())
        if self._asked % 20 == 0 and self.target.measure() > MEMORY_BYTES:
            self.findings.add("memory", told)
            return self._again()
        return reply

    def mend(self) -> None:
        """The study as it was; jobs that still run are cancelled."""
        try:
            for job in self.target.ask("GET", "/api/jobs").json():
                self._cancel(job)
        except (Died, Hung, ValueError) as problem:
            self.findings.add("hang" if isinstance(problem, Hung) else "death", "cancelling", self.target.last_words())
            self._again()
        self._restore()

    def _again(self) -> None:
        self.target.stop()
        self._restore()
        self.target.start()

    def _restore(self) -> None:
        study = self.target.study
        for path in sorted(study.iterdir()) if study.exists() else []:
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
        shutil.copytree(self.pristine, study, dirs_exist_ok=True)

    def _cancel(self, job: Any) -> None:
        if isinstance(job, dict) and job.get("state") in ("queued", "running"):
            self.target.ask("POST", f"/api/jobs/{job['id']}/cancel")

    def _raw(self, method: str, asked: str, body: bytes | None) -> None:
        """The bytes of a request, damaged; any refusal is right."""
        head = f"{method} {asked} HTTP/1.1\r\nHost: 127.0.0.1:{self.target.port}\r\n"
        head += f"Authorization: Bearer {self.target.token}\r\n"
        content = f"{head}Content-Length: {len(body or b'')}\r\n\r\n".encode(errors="replace") + (body or b"")
        with socket.create_connection(("127.0.0.1", self.target.port), timeout=2.0) as connection:
            try:
                connection.sendall(bytes_mutated(self.random, content))
                connection.shutdown(socket.SHUT_WR)
                first = connection.recv(64)
            except (TimeoutError, OSError):
                first = b""
        if first[9:10] == b"5":
            self.findings.add("5xx", f"raw | {content[:300]!r}", self.target.last_words(), damaged=content)

    def _address(self, path: str, about: Mapping[str, Any]) -> str:
        asked, query = path, []
        for parameter in about.get("parameters", []):
            name, schema = parameter["name"], parameter.get("schema", {})
            if parameter["in"] == "path":
                value = self._text(name, schema)
                asked = asked.replace("{" + name + "}", quote(value, safe=self.random.choice(("", "", "/%"))) or "x")
            elif parameter.get("required") or self.random.random() < 0.6:
                query += [f"{quote(name)}={quote(self._text(name, schema), safe='')}"]
        if self.random.random() < 0.05:
            query.append(quote(self.random.choice(WORDS), errors="replace", safe="=&%"))
        return asked + ("?" + "&".join(query) if query else "")

    def _text(self, name: str, schema: Mapping[str, Any]) -> str:
        value = self.random.choice(ODD) if self.random.random() < 0.12 else self.value(name, schema)
        if isinstance(value, list):
            value = value[0] if value else ""
        text = value if isinstance(value, str) else json.dumps(value)
        return text.encode(errors="replace").decode()

    def _body(self, about: Mapping[str, Any]) -> bytes | None:
        described = about.get("requestBody")
        if described is None:
            return None
        value = self.value("body", described["content"]["application/json"]["schema"])
        for _ in range(self.random.choice((0, 0, 1, 1, 2))):
            value = value_mutated(self.random, value)
        content = json.dumps(value).encode()
        return bytes_mutated(self.random, content) if self.random.random() < 0.05 else content

    def value(self, name: str, schema: Mapping[str, Any], depth: int = 0) -> Any:
        """Something that a schema allows, with names that there are."""
        if "$ref" in schema:
            schema = self.schemas[schema["$ref"].rsplit("/", 1)[-1]]
        for several in ("anyOf", "oneOf"):
            if several in schema:
                return self.value(name, self.random.choice(schema[several]), depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        kind = schema.get("type")
        if kind == "object" or "properties" in schema:
            return self._object(schema, depth)
        if kind == "array" or "prefixItems" in schema:
            items = schema.get("items", {})
            count = 0 if depth > 6 else self.random.choice((0, 1, 1, 2, 3))
            return [self.value(name, items if isinstance(items, dict) else {}, depth + 1) for _ in range(count)]
        return self._plain(name, kind)

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        required = schema.get("required", [])
        some = {
            key: self.value(key, of, depth + 1)
            for key, of in schema.get("properties", {}).items()
            if key in required or (depth < 6 and self.random.random() < 0.4)
        }
        more = schema.get("additionalProperties")
        if isinstance(more, dict) and depth < 6:
            some |= {self.random.choice(("0", "1", "x")): self.value("x", more, depth + 1)}
        return some

    def _plain(self, name: str, kind: Any) -> Any:
        if kind == "integer":
            return (
                self.random.choice((0, 1, 2, 3, 5, 10, *NUMBERS))
                if self.random.random() < 0.3
                else self.random.randrange(8)
            )
        if kind == "number":
            return self.random.choice((0.0, 0.5, 1.0, -1.0, 1e30, 3.5))
        if kind == "boolean":
            return self.random.random() < 0.5
        if kind == "null":
            return None
        if kind == "string":
            return self.random.choice(self.pool.get(name) or self.pool["any"])
        return self.random.choice(ODD)


def _names(target: Target) -> dict[str, list[Any]]:
    """What stands in the study, by the name of the parameter that takes it."""
    study = target.ask("GET", "/api/study").json()
    recordings = [line["name"] for line in study["recordings"]]
    pool: dict[str, list[Any]] = {
        "name": recordings,
        "recording": recordings,
        "array": [],
        "key": [],
        "names": [],
        "id": [],
    }
    for name in recordings:
        root = f"/api/recordings/{quote(name, safe='')}"
        told = target.ask("GET", root).json()
        columns = [column["name"] for column in told["columns"]]
        pool[f"columns of {name}"] = columns
        pool["names"] += columns
        pool["array"] += [array["name"] for array in told["arrays"]]
        pool["key"] += [path.stem for path in (target.study / "recordings" / name / "scenes").glob("*.json")]
        pool["id"] += [made["id"] for made in target.ask("GET", f"{root}/predictions").json()]
    results = target.ask("GET", "/api/results").json()
    lenses = target.ask("GET", "/api/lenses").json()
    pool["result_id"] = pool["result"] = [result["id"] for result in results]
    pool["column"] = pool["names"]
    pool["subject"] = study["live_subjects"]
    pool["world"] = study["live_worlds"]
    pool["lens"] = [lens["name"] for lens in lenses]
    pool["slug"] = [page["slug"] for page in target.ask("GET", "/api/docs").json()]
    pool["reduction"] = ["half"]
    pool["made"] = ["dusk"]
    pool["layer"] = pool["site"] = ["see", "tell", "cell", "cell/h", "eye", "policy", "value"]
    pool["expression"] = ["step > 3", "reward + 1", "hit ∩ ¬died", "change(reward)"]
    pool["format"], pool["by"] = ["png", "webp", "x"], ["model", "change", "activation", "decisions", "correlation"]
    pool["any"] = [*recordings, "half", "see", "policy", "value", "x", ""]
    return pool
