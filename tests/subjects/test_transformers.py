"""Attention maps of the transformers library's models: read, changed and differentiated, eager and fused."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import innerview as iv
from innerview.schema import SiteEdit

WIDTH, HEADS, TOKENS, WORDS = 16, 4, 7, 20
KINDS, WAYS = ("bert", "vit", "gpt2", "llama", "lxmert"), ("eager", "sdpa")
ONLY_EAGER = ("lxmert", "sdpa")
"""The library has no such implementation of it."""
EPSILON = 0.01


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
def test_maps_are_read_and_changed_in_either_implementation(kind: str) -> None:
    transformers = pytest.importorskip("transformers")
    eager, fused = (library_model(transformers, kind, way) for way in ("eager", "sdpa"))
    fused.load_state_dict(eager.state_dict())
    subjects = [iv.subject(m, name=kind, example=library_example(kind), heads="answer") for m in (eager, fused)]
    for site in subjects[0].info.attention:
        assert site.stream == ("cross" if "visual_attention" in site.address else "self")
    addresses = [site.address for site in subjects[0].info.attention]
    assert addresses and subjects[0].info.attention == subjects[1].info.attention
    torch.manual_seed(1)
    given = library_inputs(kind)
    inputs = dict(zip((spec.name for spec in subjects[0].info.inputs), given, strict=True))
    outputs = [subject.run(inputs, keep=addresses) for subject in subjects]
    for output in outputs:
        for wanted in eager.attentions(*given):
            assert [a for a in addresses if same(output.sites[a], wanted)]
    for address in addresses:
        torch.testing.assert_close(outputs[0].sites[address], outputs[1].sites[address], atol=1e-5, rtol=1e-4)
    edit = SiteEdit(site=addresses[0], elements=(0, 2), op="uniform")
    changed = [subject.run(inputs, edits=edit).heads["answer"] for subject in subjects]
    torch.testing.assert_close(changed[0], changed[1], atol=1e-5, rtol=1e-4)
    assert not torch.allclose(changed[0], outputs[0].heads["answer"], atol=1e-5)


@pytest.mark.parametrize(("kind", "way"), [(kind, way) for kind in KINDS for way in WAYS if (kind, way) != ONLY_EAGER])
def test_gradients_at_maps_are_differences(kind: str, way: str) -> None:
    """A head's map times 1 ± ε changes the answer by the gradient along the map."""
    transformers = pytest.importorskip("transformers")
    model = library_model(transformers, kind, way)
    subject = iv.subject(model, name=kind, example=library_example(kind), heads="answer")
    torch.manual_seed(1)
    inputs = dict(zip((spec.name for spec in subject.info.inputs), library_inputs(kind), strict=True))
    addresses = [site.address for site in subject.info.attention]
    output = subject.run(inputs, keep=addresses, grad=True)
    maps = [output.sites[address] for address in addresses]
    # What attends last in LXMERT's other stream is not read by the answer.
    gradients = torch.autograd.grad(output.heads["answer"][:, 0].sum(), maps, allow_unused=True)
    assert all(gradient is not None for gradient in gradients) or kind == "lxmert"
    for address, values, gradient in zip(addresses, maps, gradients, strict=True):
        more, less = (
            subject.run(inputs, edits=SiteEdit(site=address, elements=(1,), op="scale", value=1 + small))
            for small in (EPSILON, -EPSILON)
        )
        slope = (more.heads["answer"][:, 0] - less.heads["answer"][:, 0]).sum() / (2 * EPSILON)
        along = torch.zeros(()) if gradient is None else (gradient[:, 1] * values[:, 1]).sum()
        torch.testing.assert_close(along, slope, atol=2e-4, rtol=1e-2)


def same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, atol=1e-5, rtol=1e-4)


class Library(nn.Module):
    """A model of the library with an answer of our own."""

    def __init__(self, model: Any, kind: str) -> None:
        super().__init__()
        self.model, self.kind, self.answer = model, kind, nn.Linear(WIDTH, 3)

    def forward(self, given: Tensor) -> Tensor:
        return self.answer(self.said(given).mean(1))

    def said(self, *given: Tensor, **settings: Any) -> Any:
        if self.kind == "lxmert":
            told = self.model(input_ids=given[0], visual_feats=given[1], visual_pos=given[2], **settings)
            return told if settings else told.language_output
        told = self.model(**{"pixel_values" if self.kind == "vit" else "input_ids": given[0]}, **settings)
        return told if settings else told.last_hidden_state

    def attentions(self, *given: Tensor) -> list[Tensor]:
        """As the library itself gives them; it gives no map twice, and of LXMERT's crossings one way only."""
        told = self.said(*given, output_attentions=True)
        if self.kind == "lxmert":
            return [*told.language_attentions, *told.vision_attentions, *told.cross_encoder_attentions]
        return list(told.attentions)


class Paired(Library):
    """LXMERT takes words, and features and places of things."""

    def forward(self, given: Tensor, features: Tensor, places: Tensor) -> Tensor:  # type: ignore[override]
        return self.answer(self.said(given, features, places).mean(1))


def library_model(transformers: Any, kind: str, way: str) -> Library:
    torch.manual_seed(0)
    size = {"hidden_size": WIDTH, "num_attention_heads": HEADS, "intermediate_size": 32, "initializer_range": 0.3}
    shared = {**size, "num_hidden_layers": 2}
    own: dict[str, dict[str, Any]] = {
        "bert": {"vocab_size": WORDS, **shared},
        "vit": {"image_size": 16, "patch_size": 8, **shared},
        "gpt2": {
            **{"vocab_size": WORDS, "n_embd": WIDTH, "n_layer": 2, "n_head": HEADS, "n_positions": 16},
            **{"bos_token_id": 0, "eos_token_id": 0, "initializer_range": 0.3},
        },
        "llama": {"vocab_size": WORDS, "num_key_value_heads": 2, **shared},
        "lxmert": {
            **{"vocab_size": WORDS, "l_layers": 1, "r_layers": 1, "x_layers": 2, "visual_feat_dim": 5},
            **{"visual_pos_dim": 4, **size},
        },
    }
    names = {"bert": "Bert", "vit": "ViT", "gpt2": "GPT2", "llama": "Llama", "lxmert": "Lxmert"}
    way = "eager" if (kind, way) == ONLY_EAGER else way
    config = getattr(transformers, f"{names[kind]}Config")(attn_implementation=way, **own[kind])
    return (Paired if kind == "lxmert" else Library)(getattr(transformers, f"{names[kind]}Model")(config), kind).eval()


def library_example(kind: str) -> tuple[Tensor, ...]:
    return tuple(value[:1] for value in library_inputs(kind))


def library_inputs(kind: str) -> tuple[Tensor, ...]:
    words = torch.randint(0, WORDS, (3, TOKENS))
    if kind == "lxmert":
        return words, torch.rand(3, 6, 5), torch.rand(3, 6, 4)
    return (torch.rand(3, 3, 16, 16) if kind == "vit" else words,)
