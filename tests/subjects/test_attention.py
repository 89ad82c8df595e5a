"""Attention maps: found, read as they are, and changed to what a module patched by hand gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import innerview as iv
from innerview.errors import EditError, SubjectError, UnknownName
from innerview.schema import SiteEdit
from innerview.subjects import Subject

WIDTH, HEADS, TOKENS, WORDS = 16, 4, 7, 20
Maps = list[Tensor]
"""What goes in the place of the maps of one run, in order; empty: the module's own."""


class HandMade(nn.Module):
    """Attention written out, so that a test can put any map into it."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def maps(self, rows: Tensor, columns: Tensor, mask: Tensor | None = None) -> Tensor:
        scores = apart(self.query(rows)) @ apart(self.key(columns)).transpose(-2, -1) / math.sqrt(WIDTH // HEADS)
        return (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(-1)

    def mix(self, maps: Tensor, columns: Tensor) -> Tensor:
        mixed = (maps @ apart(self.value(columns))).transpose(1, 2).flatten(2)
        return self.out(mixed)


def apart(value: Tensor) -> Tensor:
    return value.unflatten(-1, (HEADS, WIDTH // HEADS)).transpose(1, 2)


class Answering(nn.Module):
    """Words that attend to each other in one of several ways, and an answer read off the last."""

    def __init__(self, attend: nn.Module) -> None:
        super().__init__()
        self.words, self.attend, self.answer = nn.Embedding(WORDS, WIDTH), attend, nn.Linear(WIDTH, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.answer(self.attend(self.words(tokens))[:, -1])


class Plain(HandMade):
    def forward(self, x: Tensor) -> Tensor:
        return self.mix(functional.dropout(self.maps(x, x), 0.5, self.training), x)


class Fused(HandMade):
    causal = False

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = apart(self.query(x)), apart(self.key(x)), apart(self.value(x))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(mixed.transpose(1, 2).flatten(2))


class FusedCausal(Fused):
    causal = True


class Twice(HandMade):
    """The same weights used twice in a run: a site for each call."""

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(2):
            x = x + self.mix(self.maps(x, x), x)
        return x


class MultiHead(nn.Module):
    def __init__(self, *, batch_first: bool, weights: bool) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=batch_first)
        self.weights = weights

    def forward(self, x: Tensor) -> Tensor:
        given = x if self.attention.batch_first else x.transpose(0, 1)
        seen, _ = self.attention(given, given, given, need_weights=self.weights)
        return seen if self.attention.batch_first else seen.transpose(0, 1)


class EncoderLayer(nn.Module):
    """torch's own layer, whose fast path runs everything in one kernel."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 32, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


def by_hand(module: Any, x: Tensor, maps: Maps) -> Tensor:
    """Of the hand-made kinds: what the module puts out with other maps, and all of its maps where none are given."""
    mask = torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril() if isinstance(module, FusedCausal) else None
    if isinstance(module, Twice):
        for number in range(2):
            x = x + module.mix(maps[number] if maps else module.maps(x, x), x)
        return x
    return module.mix(maps[0] if maps else module.maps(x, x, mask), x)


def multi_head_by_hand(module: MultiHead, x: Tensor, maps: Maps) -> Tensor:
    attention = module.attention
    weight, bias = attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3)
    q, k, v = (apart(functional.linear(x, w, b)) for w, b in zip(weight, bias, strict=True))
    own = (q @ k.transpose(-2, -1) / math.sqrt(WIDTH // HEADS)).softmax(-1)
    mixed = ((maps[0] if maps else own) @ v).transpose(1, 2).flatten(2)
    return attention.out_proj(mixed)


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[], nn.Module]
    address: str
    hand: Callable[[Any, Tensor, Maps], Tensor]


CASES = (
    Case("plain", Plain, "attend/attention", by_hand),
    Case("fused", Fused, "attend/attention", by_hand),
    Case("fused, causal", FusedCausal, "attend/attention", by_hand),
    Case(
        "multi-head",
        lambda: MultiHead(batch_first=True, weights=False),
        "attend.attention/attention",
        multi_head_by_hand,
    ),
    Case(
        "multi-head, tokens first",
        lambda: MultiHead(batch_first=False, weights=True),
        "attend.attention/attention",
        multi_head_by_hand,
    ),
)


def subject_of(attend: nn.Module, **settings: Any) -> Subject:
    example = torch.zeros(1, TOKENS, dtype=torch.int64)
    return iv.subject(Answering(attend).eval(), name="answering", example=(example,), heads="answer", **settings)


def made(case: Case) -> Subject:
    torch.manual_seed(0)
    return subject_of(case.make())


TEXT = torch.randint(0, WORDS, (5, TOKENS), generator=torch.Generator().manual_seed(3))


def answers(subject: Subject, **settings: Any) -> Any:
    return subject.run({subject.info.inputs[0].name: TEXT}, **settings)


def answer_of(subject: Subject, hidden: Tensor) -> Tensor:
    module: Any = subject.module
    answer: Tensor = module.answer(hidden[:, -1])
    return answer


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    chosen: Case = request.param
    return chosen


@torch.no_grad()
def test_a_map_is_read_as_it_is(case: Case) -> None:
    subject = made(case)
    module: Any = subject.module
    assert [site.address for site in subject.info.attention] == [case.address]
    site = subject.info.attention[0]
    assert (site.shape, site.axes, site.stream) == ((HEADS, TOKENS, TOKENS), ("head", "row", "column"), "self")
    assert site.row_tokens == site.column_tokens == subject.info.inputs[0].name
    output = answers(subject, keep=[case.address, f"{case.address}[2]"])
    maps = output.sites[case.address]
    torch.testing.assert_close(maps.sum(-1), torch.ones(5, HEADS, TOKENS))
    x = module.words(TEXT)
    torch.testing.assert_close(answer_of(subject, case.hand(module.attend, x, [maps])), output.heads["answer"])
    torch.testing.assert_close(answer_of(subject, case.hand(module.attend, x, [])), output.heads["answer"])
    assert torch.equal(output.sites[f"{case.address}[2]"], maps[:, 2])
    if isinstance(module.attend, FusedCausal):
        assert (maps.triu(1) == 0).all()


@torch.no_grad()
@pytest.mark.parametrize("op", ["zero", "uniform", "force", "scale"])
def test_a_changed_head_is_what_a_patched_module_gives(case: Case, op: str) -> None:
    subject = made(case)
    module: Any = subject.module
    before = answers(subject, keep=[case.address])
    table = torch.eye(TOKENS).roll(1, 0)
    forced = tuple(map(tuple, table.tolist())) if op == "force" else ()
    edit = SiteEdit(site=case.address, elements=(1,), op=op, value=0.5, map=forced)  # type: ignore[arg-type]
    changed = answers(subject, edits=edit, keep=[case.address])
    maps = before.sites[case.address].clone()
    spread = (maps[:, 1] > 0).float()
    maps[:, 1] = {
        "zero": torch.zeros(TOKENS, TOKENS),
        "uniform": spread / spread.sum(-1, keepdim=True),
        "force": table,
        "scale": maps[:, 1] * 0.5,
    }[op]
    wanted = answer_of(subject, case.hand(module.attend, module.words(TEXT), [maps]))
    torch.testing.assert_close(changed.heads["answer"], wanted, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(changed.sites[case.address], maps)
    assert not torch.allclose(changed.heads["answer"], before.heads["answer"], atol=1e-4)
    after = answers(subject)
    assert torch.equal(after.heads["answer"], answers(subject).heads["answer"])
    torch.testing.assert_close(after.heads["answer"], before.heads["answer"])
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in subject.module.modules())


def test_gradients_at_a_map_are_those_of_attention_by_hand(case: Case) -> None:
    subject = made(case)
    module: Any = subject.module
    output = answers(subject, keep=[case.address], grad=True)
    (got,) = torch.autograd.grad(output.heads["answer"][:, 1].sum(), output.sites[case.address])
    maps = output.sites[case.address].detach().requires_grad_()
    answer = answer_of(subject, case.hand(module.attend, module.words(TEXT), [maps]))
    (wanted,) = torch.autograd.grad(answer[:, 1].sum(), maps)
    assert wanted.abs().sum() > 0
    torch.testing.assert_close(got, wanted, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(output.heads["answer"], answer)


def test_gradients_go_on_from_one_map_to_another_and_to_the_inputs() -> None:
    torch.manual_seed(0)
    subject = subject_of(Twice())
    module: Any = subject.module
    first, second = (f"attend@{call}/attention" for call in range(2))
    edit = SiteEdit(site=first, elements=(1,), op="uniform")
    output = answers(subject, keep=[first, second], edits=edit, grad=True)
    got = torch.autograd.grad(
        output.heads["answer"].sum(), [output.sites[first], output.sites[second], module.words.weight]
    )
    x = module.words(TEXT)
    one = output.sites[first].detach().requires_grad_()
    then = x + module.attend.mix(one, x)
    two = module.attend.maps(then, then)
    wanted = torch.autograd.grad(answer_of(subject, then + module.attend.mix(two, then)).sum(), [one, two])
    for found, right in zip(got, wanted, strict=False):
        torch.testing.assert_close(found, right, atol=1e-6, rtol=1e-5)
    assert got[2].abs().sum() > 0


@torch.no_grad()
def test_weights_that_run_twice_have_a_site_for_each_call() -> None:
    torch.manual_seed(0)
    subject = subject_of(Twice())
    module: Any = subject.module
    first, second = (f"attend@{call}/attention" for call in range(2))
    assert [site.address for site in subject.info.attention] == [first, second]
    maps = answers(subject, keep=[first, second]).sites
    assert not torch.allclose(maps[first], maps[second], atol=1e-3)
    changed = answers(subject, edits=SiteEdit(site=f"{second}[3]", op="uniform"), keep=[first, second])
    torch.testing.assert_close(changed.sites[first], maps[first])
    patched = maps[second].clone()
    patched[:, 3] = 1 / TOKENS
    wanted = answer_of(subject, by_hand(module.attend, module.words(TEXT), [maps[first], patched]))
    torch.testing.assert_close(changed.heads["answer"], wanted, atol=1e-6, rtol=1e-6)
    with pytest.raises(SubjectError, match=r"runs 2 times in one run\. Choose a call: attend@0/attention"):
        answers(subject, keep=["attend/attention"])


@torch.no_grad()
def test_the_fast_path_of_an_encoder_layer_hides_nothing() -> None:
    torch.manual_seed(0)
    subject = subject_of(EncoderLayer())
    assert [site.address for site in subject.info.attention] == ["attend.layer.self_attn/attention"]
    site = subject.info.attention[0].address
    output = answers(subject, keep=[site])
    torch.testing.assert_close(output.heads["answer"], answers(subject).heads["answer"])
    module: Any = subject.module
    x = module.words(TEXT)
    _, maps = module.attend.layer.self_attn(x, x, x, average_attn_weights=False)
    torch.testing.assert_close(output.sites[site], maps)


class Masked(nn.Module):
    """Rows of one input attend to another, as far as a mask lets them."""

    def __init__(self) -> None:
        super().__init__()
        self.cross = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.answer = nn.Linear(WIDTH, 3)

    def forward(self, asked: Tensor, boxes: Tensor, there: Tensor) -> Tensor:
        seen, _ = self.cross(asked, boxes, boxes, key_padding_mask=there < 0.5)
        return self.answer(seen.mean(1))


@torch.no_grad()
def test_uniform_spreads_over_what_may_be_attended_to() -> None:
    torch.manual_seed(0)
    example = (torch.zeros(1, 4, WIDTH), torch.zeros(1, 6, WIDTH), torch.ones(1, 6))
    subject = iv.subject(Masked().eval(), name="masked", example=example, heads="answer")
    (site,) = subject.info.attention
    assert (site.stream, site.row_tokens, site.column_tokens) == ("cross", "asked", "")
    inputs = {"asked": torch.rand(2, 4, WIDTH), "boxes": torch.rand(2, 6, WIDTH), "there": torch.ones(2, 6)}
    inputs["there"][1, 2:] = 0
    edit = SiteEdit(site=site.address, elements=(0,), op="uniform")
    maps = subject.run(inputs, edits=edit, keep=[site.address]).sites[site.address]
    torch.testing.assert_close(maps[0, 0], torch.full((4, 6), 1 / 6))
    torch.testing.assert_close(maps[1, 0], torch.tensor([0.5, 0.5, 0, 0, 0, 0]).expand(4, 6))
    with pytest.raises(EditError, match=r"maps of 4 × 6; the edit gives \[2, 2\]"):
        subject.run(inputs, edits=SiteEdit(site=site.address, op="force", map=((0.0, 1.0), (1.0, 0.0))))


class Between(HandMade):
    """Two streams of as many tokens: each attends to itself, the first then to the second."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way, self.answer = way, nn.Linear(WIDTH, 3)
        self.multi = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

    def attend(self, rows: Tensor, columns: Tensor) -> Tensor:
        if self.way == "multi-head":
            return self.multi(rows.clone(), columns.clone(), columns)[0]  # type: ignore[no-any-return]
        if self.way == "plain":
            return self.mix(self.maps(rows, columns), columns)
        q, k, v = apart(self.query(rows)), apart(self.key(columns)), apart(self.value(columns))
        return self.out(functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))  # type: ignore[no-any-return]

    def forward(self, one: Tensor, other: Tensor) -> Tensor:
        one, other = one + self.attend(one, one), other + self.attend(other, other)
        one = one + self.attend(one, other)
        return self.answer((one + self.attend(one, one)).mean(1))  # type: ignore[no-any-return]


@pytest.mark.parametrize("way", ["plain", "fused", "multi-head"])
def test_only_what_attends_to_its_own_stream_is_called_self(way: str) -> None:
    example = (torch.zeros(1, TOKENS, WIDTH), torch.zeros(1, TOKENS, WIDTH))
    subject = iv.subject(Between(way).eval(), name="between", example=example, heads="answer")
    assert [site.stream for site in subject.info.attention] == ["self", "self", "cross", "self"]


class Latents(Between):
    """Learned tokens ask what was seen, then each other."""

    def __init__(self) -> None:
        super().__init__("fused")
        self.latents = nn.Parameter(torch.rand(TOKENS, WIDTH))

    def forward(self, seen: Tensor) -> Tensor:  # type: ignore[override]
        own = self.latents.expand(len(seen), -1, -1)
        for among in (own, seen):
            own = own + self.attend(own, among)
        return self.answer((own + self.attend(own, own) + self.attend(own, seen)).mean(1))  # type: ignore[no-any-return]


def test_learned_tokens_are_a_stream_of_their_own() -> None:
    example = (torch.zeros(1, TOKENS, WIDTH),)
    subject = iv.subject(Latents().eval(), name="latents", example=example, heads="answer")
    # Before they have seen anything nobody knows where learned tokens come from.
    assert [site.stream for site in subject.info.attention] == ["", "cross", "self", "cross"]


class Unsure(HandMade):
    """A softmax whose product with the values no one can see: it has to be declared."""

    def forward(self, x: Tensor) -> Tensor:
        maps = self.maps(x, x)
        values = apart(self.value(x))
        mixed = (maps.unsqueeze(-1) * values.unsqueeze(2)).sum(3)
        return self.out(mixed.transpose(1, 2).flatten(2))


@torch.no_grad()
def test_what_cannot_be_found_is_declared() -> None:
    torch.manual_seed(0)
    assert not subject_of(Unsure()).info.attention
    subject = subject_of(Unsure(), attention={"attend": {"stream": "words", "row_tokens": "tokens"}})
    (site,) = subject.info.attention
    assert (site.address, site.stream, site.row_tokens) == ("attend/attention", "words", "tokens")
    module: Any = subject.module
    x = module.words(TEXT)
    maps = answers(subject, keep=[site.address]).sites[site.address]
    torch.testing.assert_close(maps, module.attend.maps(x, x))
    with pytest.raises(UnknownName, match=r"'atend'.*Did you mean 'attend'"):
        subject_of(Unsure(), attention=["atend"])
    with pytest.raises(UnknownName, match="'streams'"):
        subject_of(Unsure(), attention={"attend": {"streams": "x"}})


class Classes(nn.Module):
    """A softmax over classes is no attention."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.answer = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.answer(self.words(tokens)).softmax(-1).mean(1)


def test_a_softmax_over_classes_is_no_attention() -> None:
    example = torch.zeros(1, TOKENS, dtype=torch.int64)
    assert not iv.subject(Classes(), name="classes", example=(example,), heads="answer").info.attention


class Failing(Plain):
    broken = False

    def forward(self, x: Tensor) -> Tensor:
        mixed = super().forward(x)
        if self.broken:
            raise ValueError("no more")
        return mixed


def test_nothing_is_left_on_a_module_that_failed() -> None:
    subject = subject_of(Failing())
    module: Any = subject.module
    module.attend.broken = True
    with pytest.raises(SubjectError, match="no more"):
        answers(subject, keep=["attend/attention"], edits=SiteEdit(site="attend/attention", op="uniform"))
    assert not any(p._forward_hooks or p._forward_pre_hooks or p._backward_hooks for p in module.modules())
    assert torch.overrides._get_current_function_mode() is None
    module.attend.broken = False
    assert answers(subject, keep=["attend/attention"]).sites
