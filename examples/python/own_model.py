"""Trains a model of one's own on two workers, then uses it in PyTorch as before.

The cells (# %%) can be run one by one in an editor or a notebook.
"""
# %% A model as PyTorch users write it, and samples that it can learn
import torch
from torch import nn

import pipedream

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(32 * 49, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 4),
)  # fmt: skip
labels = torch.randint(4, (2000,))  # which quarter of the image is bright
images = torch.randn(2000, 1, 28, 28)
for image, label in zip(images, labels):
    row, column = divmod(int(label), 2)
    image[:, 14 * row : 14 * row + 14, 14 * column : 14 * column + 14] += 0.5

# %% Where does the time go?
profile = pipedream.profile(model, (images, labels), batch=32, workers=2)
print(profile)

# %% Which system would be fastest on two workers of this machine?
comparison = pipedream.compare(profile, workers=2)
for run in comparison.runs:
    print(run)

# %% Train with the plan that the program makes by itself
result = pipedream.train(model, (images, labels), workers=2, epochs=2, batch=32)
print(result)

# %% The model has the trained weights
model.eval()
right = (model(images).argmax(dim=1) == labels).float().mean().item()
print(f"right: {100 * right:.1f} %")
