"""What torchvision computes: weights in, logits and gradients out, as one safetensors file.

usage: torchvision_reference.py MODEL IMAGE_SIZE BATCH float32|float64 OUTPUT
Exit code 77: torch, torchvision or safetensors is not installed.
"""
import sys

try:
    import torch
    import torchvision
    from safetensors.torch import save_file
except ImportError as missing:
    print(f"torchvision's reference needs {missing.name}", file=sys.stderr)
    sys.exit(77)


def main(name, size, batch, dtype, output):
    torch.manual_seed(1)
    torch.set_default_dtype(getattr(torch, dtype))
    torch.set_num_threads(1)
    model = getattr(torchvision.models, name)(weights=None).train()
    for module in model.modules():  # random numbers differ between the two; everything else must not
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    image = torch.randn(batch, 3, size, size)
    labels = torch.randint(1000, (batch,))
    # Buffers as they are before the pass: training mode moves batch norm's averages.
    tensors = {f"weight/{n}": t.detach().clone() for n, t in model.state_dict().items()}
    logits = model(image)
    torch.nn.functional.cross_entropy(logits, labels).backward()
    tensors |= {f"gradient/{n}": p.grad for n, p in model.named_parameters()}
    tensors |= {f"after/{n}": b.detach().clone() for n, b in model.named_buffers()}
    tensors |= {"image": image, "labels": labels, "logits": logits.detach().clone()}
    save_file(tensors, output)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5])
