"""Networks of the zoo (src/model) in plain PyTorch, for the peers that they are compared with.

Each is a torch.nn.Sequential, so that it can be cut between any two of its parts. Their numbers of
parameters are compared with ours before anything is measured.
"""
import torch
from torch import nn


def classifier(inputs, hidden, classes):
    return [nn.Linear(inputs, hidden), nn.ReLU(), nn.Dropout(), nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Dropout(), nn.Linear(hidden, classes)]


def vgg16(image, classes):
    """No pooling before the classifier: it shrinks with the image."""
    layers, channels = [], 3
    for width in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        if width == 0:
            layers.append(nn.MaxPool2d(2, 2))
        else:
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
            channels = width
    side = min(7, image // 32)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(side), nn.Flatten(),
                         *classifier(512 * side * side, 4096, classes))


def alexnet(image, classes):
    features = nn.Sequential(
        nn.Conv2d(3, 64, 11, stride=4, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
        nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
        nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(),
        nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(),
        nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2))
    side = min(6, features(torch.zeros(1, 3, image, image)).shape[2])
    return nn.Sequential(*features, nn.AdaptiveAvgPool2d(side), nn.Flatten(), nn.Dropout(),
                         nn.Linear(256 * side * side, 4096), nn.ReLU(), nn.Dropout(),
                         nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, classes))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.skip = nn.Identity() if inputs == outputs and stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return nn.functional.relu(self.body(x) + self.skip(x))


def resnet50(image, classes):
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
              nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            layers.append(Bottleneck(channels, width, 2 if block == 0 and width > 64 else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, classes))


def mlp(inputs, hidden, layers, classes):
    parts, width = [], inputs
    for _ in range(layers - 1):
        parts += [nn.Linear(width, hidden), nn.ReLU()]
        width = hidden
    return nn.Sequential(*parts, nn.Linear(width, classes))


IMAGE_NETWORKS = {"vgg16": vgg16, "alexnet": alexnet, "resnet50": resnet50}
NAMES = (*IMAGE_NETWORKS, "mlp")
CLASSES = 10


def add_options(parser):
    parser.add_argument("--model", choices=NAMES, required=True)
    parser.add_argument("--image-size", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=0)
    parser.add_argument("--layers", type=int, default=0)


def network_and_shape(args):
    """The network that the options name, and the shape of one sample."""
    if args.model == "mlp":
        return mlp(784, args.hidden, args.layers, CLASSES), (784,)
    return (IMAGE_NETWORKS[args.model](args.image_size, CLASSES),
            (3, args.image_size, args.image_size))


def parameters_of(network):
    return sum(p.numel() for p in network.parameters())
