# Prints the numbers that data.cpp expects, with PyTorch 2.6, and the bytes of NumPy files.
import io
import numpy as np
import torch

rows = []
for i in range(80):
    a, b = (i * 37 % 101) / 10, (i * 53 % 89) / 10
    rows.append((a, b, 3 * a - 2 * b + 5 + (i * 71 % 31 - 15) / 50))
table = torch.tensor([[float(f"{v:.2f}") for v in row] for row in rows])
x, y = table[:, :2], table[:, 2]
print("means", x.mean(0).tolist(), x.std(0).tolist())

torch.manual_seed(11)
order = torch.randperm(len(x))
train, val = order[:64], order[64:]
mean, std = x[train].mean(0), x[train].std(0)
x = (x - mean) / std
w = torch.zeros(2, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([w, b], lr=0.05, momentum=0.9)
for epoch in range(60):
    shuffled = train[torch.randperm(len(train))]
    for rows in shuffled.split(16):
        loss = torch.nn.functional.mse_loss(x[rows] @ w + b, y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch in (0, 4, 59):
        with torch.no_grad():
            print(epoch, torch.nn.functional.mse_loss(x[val] @ w + b, y[val]).item())
print("in the table's units", (w / std).tolist(), (b - (w / std * mean).sum()).item())

labels = (y > 20).float()
model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
for epoch in range(30):
    for rows in train[torch.randperm(len(train))].split(16):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            model(x[rows]).squeeze(1), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    logits = model(x[val]).squeeze(1)
    print("classes", torch.nn.functional.binary_cross_entropy_with_logits(logits, labels[val])
          .item(), ((logits > 0) == (labels[val] > 0)).float().mean().item())

for array in (np.array([[1.5, -2, 3], [0.25, 1e3, -7]], dtype="<f4"),
              np.asfortranarray(np.array([[1, 2, 3], [-4, 5, 1 << 40]], dtype="<i8"))):
    file = io.BytesIO()
    np.save(file, array)
    print(len(file.getvalue()), file.getvalue())
