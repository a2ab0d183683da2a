"""Exports PyTorch models for pipedream, as a user would: eight networks of different kinds.

usage: export_examples.py FOLDER [--small] [NAME ...]

Writes FOLDER/NAME.pt2 for each model, and FOLDER/NAME.safetensors with samples for it. With
--small the models are small enough to be trained in a test, and have no dropout.
"""

import argparse
import math
import pathlib

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F


class LanguageModel(nn.Module):
    """An LSTM that predicts the next word."""

    def __init__(self, words, width, layers, dropout):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, layers, batch_first=True, dropout=dropout)
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        hidden, _ = self.lstm(self.embedding(tokens))
        return self.head(hidden)


class Encoder(nn.Module):
    """A Transformer encoder that classifies sentences."""

    def __init__(self, words, width, layers, classes, dropout):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens):
        padding = tokens == 0
        hidden = self.encoder(self.embedding(tokens), src_key_padding_mask=padding)
        return self.head(hidden.mean(dim=1))


class Attention(nn.Module):
    """Causal self-attention, written out as in many GPTs."""

    def __init__(self, width, heads, length, dropout):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(length, length, dtype=torch.bool)), persistent=False)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).split(width, dim=2)
        q, k, v = (t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        scores = scores.masked_fill(~self.mask[:length, :length], float("-inf"))
        mixed = self.dropout(scores.softmax(dim=-1)) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads, length, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads, length, dropout)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    """A GPT whose head has the embedding's weight."""

    def __init__(self, words, width, heads, layers, length, dropout):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, length, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.words(tokens) + self.places(places)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def convolutions(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    """Labels every pixel. What goes down is joined to what comes up, at each size."""

    def __init__(self, width, classes):
        super().__init__()
        self.down1, self.down2 = convolutions(3, width), convolutions(width, 2 * width)
        self.middle = convolutions(2 * width, 4 * width)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.join2 = convolutions(4 * width, 2 * width)
        self.up1 = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.join1 = convolutions(2 * width, width)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, image):
        first = self.down1(image)
        second = self.down2(F.max_pool2d(first, 2))
        x = self.middle(F.max_pool2d(second, 2))
        x = self.join2(torch.cat([self.up2(x), second], dim=1))
        x = self.join1(torch.cat([self.up1(x), first], dim=1))
        return self.head(x)


class TimedBlock(nn.Module):
    """A residual block that is told the time step."""

    def __init__(self, width, timed):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(4, width), nn.GroupNorm(4, width)
        self.conv1, self.conv2 = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)
        self.time = nn.Linear(timed, width)

    def forward(self, x, time):
        y = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[:, :, None, None]
        return x + self.conv2(F.silu(self.norm2(y)))


class Denoiser(nn.Module):
    """A small diffusion network: a U-Net with attention that predicts the noise in an image."""

    def __init__(self, width):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.down = TimedBlock(width, width)
        self.smaller = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.middle = TimedBlock(width, width)
        self.norm = nn.GroupNorm(4, width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.join = nn.Conv2d(2 * width, width, 1)
        self.up = TimedBlock(width, width)
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, image, step):
        half = self.width // 2
        waves = torch.exp(-math.log(10000.0) * torch.arange(half, device=step.device) / half)
        angles = step[:, None].float() * waves
        time = self.time(torch.cat([angles.sin(), angles.cos()], dim=1))
        first = self.down(self.first(image), time)
        x = self.middle(self.smaller(first), time)
        batch, width, height, _ = x.shape
        words = self.norm(x).flatten(2).transpose(1, 2)
        mixed, _ = self.attention(words, words, words, need_weights=False)
        x = x + mixed.transpose(1, 2).reshape(batch, width, height, height)
        x = torch.cat([F.interpolate(x, scale_factor=2.0), first], dim=1)
        return self.last(F.silu(self.up(self.join(x), time)))


def images(samples, side, classes):
    return {"x": torch.randn(samples, 3, side, side), "target": torch.randint(classes, (samples,))}


def set_dropout(model, share):
    """Sets the probability of every dropout of the model."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = share
        elif isinstance(module, (nn.LSTM, nn.MultiheadAttention)):
            module.dropout = share


def vgg16(small, samples):
    import torchvision

    model = torchvision.models.vgg16(num_classes=10)
    if small:
        # The classifier's 120 million weights would take most of a test's time.
        model.classifier = nn.Sequential(nn.Linear(512 * 49, 32), nn.ReLU(True), nn.Dropout(), nn.Linear(32, 10))
    return model, images(samples, 32, 10), "cross-entropy"


def resnet50(small, samples):
    import torchvision

    return torchvision.models.resnet50(num_classes=10), images(samples, 32, 10), "cross-entropy"


def vit(small, samples):
    import torchvision

    size = dict(num_layers=2, num_heads=2, hidden_dim=32, mlp_dim=64) if small else dict(
        num_layers=12, num_heads=12, hidden_dim=768, mlp_dim=3072)
    model = torchvision.models.VisionTransformer(image_size=32, patch_size=8, num_classes=10, **size)
    return model, images(samples, 32, 10), "cross-entropy"


def lstm(small, samples):
    words, width, layers = (50, 24, 2) if small else (10000, 512, 3)
    model = LanguageModel(words, width, layers, 0.2)
    return model, {"tokens": torch.randint(words, (samples, 12))}, "language-model"


def transformer(small, samples):
    words, width, layers = (50, 32, 2) if small else (10000, 512, 6)
    model = Encoder(words, width, layers, 5, 0.1)
    data = {"tokens": torch.randint(words, (samples, 12)), "target": torch.randint(5, (samples,))}
    return model, data, "cross-entropy"


def gpt(small, samples):
    words, width, heads, layers, length = (50, 32, 2, 3, 16) if small else (8000, 512, 8, 8, 128)
    model = Gpt(words, width, heads, layers, length, 0.1)
    return model, {"tokens": torch.randint(words, (samples, length))}, "language-model"


def unet(small, samples):
    model = UNet(8 if small else 64, 4)
    data = {"image": torch.randn(samples, 3, 16, 16), "target": torch.randint(4, (samples, 16, 16))}
    return model, data, "cross-entropy"


def diffusion(small, samples):
    model = Denoiser(16 if small else 128)
    data = {
        "image": torch.randn(samples, 3, 16, 16),
        "step": torch.randint(1000, (samples,)),
        "target": torch.randn(samples, 3, 16, 16),
    }
    return model, data, "mse"


MODELS = {f.__name__: f for f in (vgg16, resnet50, vit, lstm, transformer, unet, gpt, diffusion)}


def make(name, small, samples, seed=1):
    """The model, its samples by input, and the loss that it is trained with."""
    torch.manual_seed(seed)
    model, data, loss = MODELS[name](small, samples)
    if small:
        set_dropout(model, 0.0)
    return model.train(), data, loss


def export(model, data, file):
    """The three lines of a user, for models with any number of inputs."""
    batch = torch.export.Dim("batch")
    example = tuple(t[:2] for name, t in data.items() if name != "target")
    program = torch.export.export(model, example, dynamic_shapes=tuple({0: batch} for _ in example))
    torch.export.save(program, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--samples", type=int, default=256)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MODELS)}; default: all")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or MODELS:
        model, data, loss = make(name, arguments.small, arguments.samples)
        export(model, data, arguments.folder / f"{name}.pt2")
        save_file(data, arguments.folder / f"{name}.safetensors")
        print(f"{arguments.folder / name}.pt2: --loss {loss}")


if __name__ == "__main__":
    main()
