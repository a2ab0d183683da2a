import pytest
import torch


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(1)


@pytest.fixture
def points():
    """Samples that a small network learns: the class is the sign pattern of two numbers."""
    x = torch.randn(400, 2)
    return x, (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()


@pytest.fixture
def perceptron():
    return torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))


@pytest.fixture
def quick():
    """Options that make a training short."""
    return {"batch": 8, "learning_rate": 0.1, "profile_seconds": 0.2, "progress": False}
