"""A cross-encoder of XLM-RoBERTa's kind with random weights and a tokenizer of its own, as a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

TEXT = "the refund of an annual plan takes thirty days relay port seven lock key file how long does it take"
POSITIONS = 64  # tokens that the tiny one has positions for
TINY = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": POSITIONS + 2,
    "initializer_range": 0.5,  # scores that differ
}
LARGE = {  # bge-reranker-v2-m3: 568 million parameters
    "vocab_size": 250_002,
    "hidden_size": 1_024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4_096,
    "max_position_embeddings": 8_194,
}


def save(folder: Path, *, seed: int = 7, labels: int = 1, size: Mapping[str, float] | None = None) -> Path:
    """Write the model, tiny unless told otherwise, and its tokenizer into `folder`, and return it."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification, XLMRobertaTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = {word: number for number, word in enumerate([*special, *dict.fromkeys(TEXT.split())])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    XLMRobertaTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
    ).save_pretrained(folder)
    torch.manual_seed(seed)
    shape = {"vocab_size": len(vocabulary), "type_vocab_size": 1, "pad_token_id": 1, "num_labels": labels}
    config = XLMRobertaConfig(**{**shape, **(size or TINY)})
    XLMRobertaForSequenceClassification(config).save_pretrained(folder)
    return folder
