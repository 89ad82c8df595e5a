"""One test for each class of attack on a service that listens on loopback."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
from pathlib import Path

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from innerview.serve import Handle, serve
from innerview.serve.guard import BODY_LIMIT, SECURITY_HEADERS
from innerview.store import Study

from .conftest import SCRIPT, fill
from .wirework import WAIT_S, ask, live, live_refusal, send


def bearer(handle: Handle) -> dict[str, str]:
    return {"Authorization": f"Bearer {handle.token}"}


# DNS rebinding: a name of the attacker's that resolves to this machine arrives as Host.


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "127.0.0.1:1", "127.0.0.1", "localhost:"],
)
@pytest.mark.parametrize("path", ["/api/study", "/", "/?code={code}"])
def test_a_foreign_host_is_refused_even_with_the_token(served: Handle, host: str, path: str) -> None:
    wanted = path.format(code=served.door.code())
    status, headers, body = ask(served, wanted, Host=host.format(port=served.port), **bearer(served))
    assert status == 403
    assert "set-cookie" not in headers
    assert json.loads(body)["error"]["kind"] == "NotAllowed"


def test_no_host_or_two_hosts_are_refused(served: Handle) -> None:
    auth = f"Authorization: Bearer {served.token}\r\nConnection: close\r\n"
    own = f"Host: 127.0.0.1:{served.port}\r\n"
    assert send(served, f"GET /api/study HTTP/1.1\r\n{auth}\r\n".encode())[0] in (400, 403)
    assert send(served, f"GET /api/study HTTP/1.1\r\n{own}Host: evil\r\n{auth}\r\n".encode())[0] in (400, 403)


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_our_own_names_are_answered(served: Handle, name: str) -> None:
    assert ask(served, "/api/study", Host=f"{name}:{served.port}", **bearer(served))[0] == 200


# Foreign origin.


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1", "http://localhost"]
)
def test_a_foreign_origin_is_refused_on_http_and_websocket(served: Handle, origin: str) -> None:
    origin = origin.format(port=served.port)
    assert ask(served, "/api/study", Origin=origin, **bearer(served))[0] == 403
    assert ask(served, "/api/jobs", method="POST", Origin=origin, **bearer(served))[0] == 403
    assert live_refusal(served, origin=origin) == 403


def test_our_own_origin_is_answered(served: Handle) -> None:
    own = f"http://127.0.0.1:{served.port}"
    assert ask(served, "/api/study", Origin=own, **bearer(served))[0] == 200
    assert live_refusal(served, origin=own) == 101


# Token.


@pytest.mark.parametrize("token", ["wrong", "x" * 5000, "%C3%BC"])
def test_a_missing_or_wrong_token_is_refused(served: Handle, stranger: httpx.Client, token: str) -> None:
    for headers in ({"Authorization": f"Bearer {token}"}, {"Cookie": f"innerview={token}"}, {}):
        response = stranger.get("/api/study", headers=headers)
        assert response.status_code == 401
        assert response.json()["error"]["kind"] == "Unauthorized"
    assert stranger.post("/api/door", json={"code": token}).status_code in (401, 422)
    assert live_refusal(served, token="") == 403
    assert live_refusal(served, token=token) == 403


def test_part_of_the_token_another_scheme_or_a_query_is_not_the_token(served: Handle, stranger: httpx.Client) -> None:
    for shown in (served.token[:-1], served.token + "x"):
        assert stranger.get("/api/study", headers={"Authorization": f"Bearer {shown}"}).status_code == 401
    assert stranger.get("/api/study", headers={"Authorization": f"Basic {served.token}"}).status_code == 401
    assert stranger.get("/api/study", headers={"Cookie": f"innerview={served.token}"}).status_code == 401
    assert stranger.get(f"/api/study?token={served.token}").status_code == 401
    assert stranger.get("/api/study", headers={"Cookie": '\x7f;"=,;;{]'}).status_code == 401


def test_every_route_of_the_router_refuses_strangers(served: Handle, stranger: httpx.Client) -> None:
    seen = []
    for route in iter_route_contexts(served.app.routes):
        path = re.sub(r"{[^}]*}", "0", route.path or "")
        for method in route.methods or ["WEBSOCKET"]:
            seen.append(path)
            if method == "WEBSOCKET":
                assert live_refusal(served, token="") == 403, path
            elif path not in ("/", "/api/door"):
                assert stranger.request(method, path).status_code == 401, (method, path)
    described = served.app.openapi()["paths"]
    assert {re.sub(r"{[^}]*}", "0", path) for path in described} <= set(seen), "the enumeration misses no route"
    assert len(seen) > 20


def test_unknown_paths_and_methods_refuse_strangers(stranger: httpx.Client) -> None:
    for path in ("/api/nothing", "/docs", "/redoc", "/openapi.json", "/assets/none.js", "/index.html", "//api/study"):
        assert stranger.get(path).status_code == 401, path
    assert stranger.request("DELETE", "/api/study").status_code == 401
    assert stranger.options("/api/study").status_code == 401


# Path traversal.

PLAIN = ["../secret", "../../secret", "..", "steps/../steps", "/etc/passwd", "//etc/passwd"]
ENCODED = ["%2e%2e/secret", "%2e%2e%2fsecret", "%2e%2e%5csecret", "%2fetc%2fpasswd", "steps%00", "C:%5Csecret"]
TWICE = ["%252e%252e%252fsecret", "..%252f..%252fsecret", "%25252e%25252e%25252fsecret"]
PLACES = [
    "/api/recordings/{}",
    "/api/recordings/{}/columns",
    "/api/recordings/steps/arrays/{}",
    "/api/recordings/steps/scenes/{}",
    "/api/recordings/steps/images/{}/0",
    "/api/docs/{}",
    "/api/docs-pictures/{}",
    "/api/jobs/{}",
    "/assets/{}",
    "/{}",
]


@pytest.mark.parametrize("path", [*PLAIN, *ENCODED, *TWICE])
def test_no_path_leads_out_of_the_study(served: Handle, saved_study: Path, path: str) -> None:
    (saved_study.parent / "secret").write_text("the secret")
    for place in PLACES:
        status, headers, body = ask(served, place.format(path), **bearer(served))
        assert status in (400, 401, 404, 405, 409, 422), (place, path, status)
        assert b"root:" not in body
        assert b"the secret" not in body
        assert str(saved_study).encode() not in body, "an error does not tell where the study lies"
        assert headers["content-type"] == "application/json"


def test_a_symbolic_link_out_of_the_study_is_not_followed(tmp_path: Path) -> None:
    outside = Study.create(tmp_path / "outside")
    fill(outside, "private")
    study = Study.create(tmp_path / "study")
    fill(study)
    (study.path / "recordings" / "private").symlink_to(outside.path / "recordings" / "private")
    rows = study.path / "recordings" / "steps" / "arrays" / "memory"
    shutil.rmtree(rows)
    rows.symlink_to(outside.path / "recordings" / "private" / "arrays" / "memory")
    with (
        serve(study) as handle,
        httpx.Client(base_url=handle.address, headers=bearer(handle), timeout=WAIT_S) as client,
    ):
        for path in ("private", "private/columns", "private/arrays/memory", "steps/arrays/memory"):
            response = client.get(f"/api/recordings/{path}")
            assert response.status_code in (404, 409), path
            assert "error" in response.json()


# Pickle.


class Bomb:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (os.mkdir, (str(self.marker),))


def test_a_pickle_in_place_of_an_array_is_not_run(tmp_path: Path) -> None:
    study, marker = Study.create(tmp_path / "study"), tmp_path / "exploded"
    fill(study)
    folder = study.path / "recordings" / "steps"
    for file in [*folder.glob("arrays/memory/**/*"), *folder.glob("rows/*"), *folder.glob("tables/*")]:
        if file.is_file() and file.suffix != ".json":
            file.write_bytes(pickle.dumps(Bomb(marker)))
    with (
        serve(study) as handle,
        httpx.Client(base_url=handle.address, headers=bearer(handle), timeout=WAIT_S) as client,
    ):
        for path in ("arrays/memory", "columns", "images/memory/0"):
            assert client.get(f"/api/recordings/steps/{path}").status_code in (400, 409)
        assert client.get("/api/recordings/steps/arrays/depth").status_code == 200, "the rest still reads"
    assert not marker.exists()


def test_an_array_declared_to_hold_objects_is_refused(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study")
    fill(study)
    manifest = study.path / "recordings" / "steps" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"float32"', '"object"'))
    with (
        serve(study) as handle,
        httpx.Client(base_url=handle.address, headers=bearer(handle), timeout=WAIT_S) as client,
    ):
        response = client.get("/api/recordings/steps/arrays/memory")
        assert response.status_code == 409, response.text
        assert "recordings/steps" in [d["part"] for d in client.get("/api/study").json()["damage"]]


# Oversized requests.


def test_a_declared_gigabyte_is_refused_before_it_is_sent(served: Handle) -> None:
    status, headers, body = ask(served, "/api/jobs", method="POST", Content_Length=str(10**9), **bearer(served))
    assert status == 413
    assert json.loads(body)["error"]["kind"] == "TooLarge"
    assert headers["connection"] == "close"
    assert ask(served, "/api/jobs", method="POST", Content_Length="-5", **bearer(served))[0] in (400, 413)


def test_a_body_in_chunks_is_counted(served: Handle) -> None:
    head = f"PUT /api/selections HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {served.token}\r\n"
    chunk = b"%x\r\n%s\r\n" % (BODY_LIMIT // 4, b" " * (BODY_LIMIT // 4))
    status, _, body = send(served, f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk * 5)
    assert status == 413
    assert json.loads(body)["error"]["kind"] == "TooLarge"


def test_a_long_address_and_a_long_live_message_are_refused(served: Handle, client: httpx.Client) -> None:
    assert client.get("/api/study?x=" + "y" * 9000).status_code == 413
    with live(served) as socket:
        socket.send("x" * (BODY_LIMIT + 1))
        with pytest.raises(Exception, match="1009"):
            socket.recv(20)


@pytest.mark.parametrize("body", [b"{", b"[" * 100_000, b'{"kind": 5}', b"\xff\xfe", b"[]", b""])
def test_a_malformed_body_is_reported_and_harmless(client: httpx.Client, body: bytes) -> None:
    for method, path in (("POST", "/api/jobs"), ("PUT", "/api/selections")):
        response = client.request(method, path, content=body, headers={"Content-Type": "application/json"})
        assert response.status_code in (400, 422), (path, response.text)
        assert response.json()["error"]["kind"] == "RequestError"


# Script in a recorded name.


def test_a_script_in_recorded_text_is_served_as_data(client: httpx.Client) -> None:
    response = client.get("/api/recordings/steps")
    assert response.json()["note"] == SCRIPT
    assert response.headers["content-type"] == "application/json"
    assert response.headers["x-content-type-options"] == "nosniff"
    told = client.get(f"/api/recordings/{SCRIPT.replace('/', '%2F')}")
    assert told.status_code in (404, 409)
    assert told.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/", "/api/study", "/api/nothing", "/api/door", "/api/recordings/steps/columns"])
def test_every_reply_carries_the_security_headers(
    served: Handle, stranger: httpx.Client, client: httpx.Client, path: str
) -> None:
    refused = ask(served, path, Host="evil.example")[1]
    for headers in (refused, stranger.get(path).headers, client.get(path).headers):
        for name, value in SECURITY_HEADERS.items():
            assert headers[name.lower()] == value
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers
    policy = SECURITY_HEADERS["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "script-src" not in policy, "scripts come from ourselves alone, by default-src"
