"""Makes picture files of many kinds in a folder, and writes what torchvision's ImageFolder, Resize and
CenterCrop read from them. Ends with 77 if torchvision or PIL is not installed.

    images_reference.py FOLDER SIDE FILE.safetensors
"""
import json
import pathlib
import struct
import sys

try:
    import numpy
    import torch
    from PIL import Image
    from torchvision import datasets, transforms
except ImportError:
    sys.exit(77)


def picture(rows, columns, seed):
    """Smooth colours with some noise, as photographs have them."""
    random = numpy.random.default_rng(seed)
    y, x = numpy.mgrid[0:rows, 0:columns]
    waves = [128 + 90 * numpy.sin(x / (5 + c) + seed) * numpy.cos(y / (9 - c)) for c in range(3)]
    noisy = numpy.stack(waves, -1) + random.normal(0, 8, (rows, columns, 3))
    return Image.fromarray(noisy.clip(0, 255).astype(numpy.uint8))


def write_pictures(folder):
    sizes = [(50, 70), (64, 64), (131, 97), (33, 400), (300, 301), (32, 32)]
    for i, (rows, columns) in enumerate(sizes):
        image = picture(rows, columns, i)
        for name in ("ant", "bee"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        image.save(folder / "ant" / f"{i}.png")
        image.save(folder / "bee" / f"{i}.jpg", quality=90)
        image.convert("L").save(folder / "ant" / f"grey{i}.png")
        image.convert("P", palette=Image.Palette.ADAPTIVE).save(folder / "ant" / f"palette{i}.png")
        image.convert("RGBA").save(folder / "ant" / f"alpha{i}.png")
        image.convert("L").save(folder / "bee" / f"grey{i}.jpg")
        image.convert("CMYK").save(folder / "bee" / f"inks{i}.jpg", quality=90)
        image.save(folder / "bee" / f"progressive{i}.jpg", progressive=True)


def write_tensor(file, tensor):
    data = tensor.contiguous().numpy().tobytes()
    head = json.dumps({"images": {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [0, len(data)]}})
    pathlib.Path(file).write_bytes(struct.pack("<Q", len(head)) + head.encode() + data)


def main():
    folder, side, file = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    write_pictures(folder)
    prepare = transforms.Compose([
        transforms.Resize(side),
        transforms.CenterCrop(side),
        transforms.ToTensor(),
        transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ])
    write_tensor(file, torch.stack([image for image, _ in datasets.ImageFolder(str(folder), prepare)]))


main()
