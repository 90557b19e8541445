# Prints the numbers that chapter4.cpp expects, with PyTorch 2.6.
import torch
import torch.nn as nn

config = {"vocab_size": 100, "context_length": 32, "emb_dim": 48, "n_heads": 4, "n_layers": 3,
          "drop_rate": 0.1, "qkv_bias": False}

torch.manual_seed(123)
batch_example = torch.randn(2, 5)
layer = nn.Sequential(nn.Linear(5, 6), nn.ReLU())
out = layer(batch_example)
print("layer", out[0].tolist())


class LayerNorm(nn.Module):
    def __init__(self, emb_dim):
        super().__init__()
        self.eps = 1e-5
        self.scale = nn.Parameter(torch.ones(emb_dim))
        self.shift = nn.Parameter(torch.zeros(emb_dim))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, unbiased=False)
        return self.scale * (x - mean) / torch.sqrt(var + self.eps) + self.shift


print("norm", LayerNorm(5)(batch_example)[1].tolist())


class GELU(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1 + torch.tanh(
            torch.sqrt(torch.tensor(2.0 / torch.pi)) * (x + 0.044715 * torch.pow(x, 3))))


class Deep(nn.Module):
    def __init__(self, sizes, use_shortcut):
        super().__init__()
        self.use_shortcut = use_shortcut
        self.layers = nn.ModuleList(
            [nn.Sequential(nn.Linear(sizes[i], sizes[i + 1]), GELU()) for i in range(5)])

    def forward(self, x):
        for layer in self.layers:
            y = layer(x)
            x = x + y if self.use_shortcut and x.shape == y.shape else y
        return x


for use_shortcut in (False, True):
    torch.manual_seed(123)
    model = Deep([3, 3, 3, 3, 3, 1], use_shortcut)
    loss = nn.MSELoss()(model(torch.tensor([[1.0, 0.0, -1.0]])), torch.tensor([[0.0]]))
    loss.backward()
    print("gradients", [p.grad.abs().mean().item() for n, p in model.named_parameters()
                        if "weight" in n])


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, num_heads, qkv_bias=False):
        super().__init__()
        self.d_out, self.num_heads, self.head_dim = d_out, num_heads, d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), 1))

    def forward(self, x):
        b, n, _ = x.shape
        keys, queries, values = (
            w(x).view(b, n, self.num_heads, self.head_dim).transpose(1, 2)
            for w in (self.W_key, self.W_query, self.W_value))
        scores = queries @ keys.transpose(2, 3)
        scores.masked_fill_(self.mask.bool()[:n, :n], -torch.inf)
        weights = self.dropout(torch.softmax(scores / self.head_dim**0.5, dim=-1))
        context = (weights @ values).transpose(1, 2).contiguous().view(b, n, self.d_out)
        return self.out_proj(context)


class FeedForward(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(cfg["emb_dim"], 4 * cfg["emb_dim"]), GELU(),
                                    nn.Linear(4 * cfg["emb_dim"], cfg["emb_dim"]))

    def forward(self, x):
        return self.layers(x)


class TransformerBlock(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.att = MultiHeadAttention(cfg["emb_dim"], cfg["emb_dim"], cfg["context_length"],
                                      cfg["drop_rate"], cfg["n_heads"], cfg["qkv_bias"])
        self.ff = FeedForward(cfg)
        self.norm1 = LayerNorm(cfg["emb_dim"])
        self.norm2 = LayerNorm(cfg["emb_dim"])
        self.drop_shortcut = nn.Dropout(cfg["drop_rate"])

    def forward(self, x):
        x = x + self.drop_shortcut(self.att(self.norm1(x)))
        return x + self.drop_shortcut(self.ff(self.norm2(x)))


class GPTModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok_emb = nn.Embedding(cfg["vocab_size"], cfg["emb_dim"])
        self.pos_emb = nn.Embedding(cfg["context_length"], cfg["emb_dim"])
        self.drop_emb = nn.Dropout(cfg["drop_rate"])
        self.trf_blocks = nn.Sequential(*[TransformerBlock(cfg) for _ in range(cfg["n_layers"])])
        self.final_norm = LayerNorm(cfg["emb_dim"])
        self.out_head = nn.Linear(cfg["emb_dim"], cfg["vocab_size"], bias=False)

    def forward(self, in_idx):
        _, n = in_idx.shape
        x = self.drop_emb(self.tok_emb(in_idx) + self.pos_emb(torch.arange(n)))
        return self.out_head(self.final_norm(self.trf_blocks(x)))


def generate_text_simple(model, idx, max_new_tokens, context_size):
    for _ in range(max_new_tokens):
        with torch.no_grad():
            logits = model(idx[:, -context_size:])
        probas = torch.softmax(logits[:, -1, :], dim=-1)
        idx = torch.cat((idx, torch.argmax(probas, dim=-1, keepdim=True)), dim=1)
    return idx


if __name__ == "__main__":
    torch.manual_seed(123)
    x = torch.rand(2, 4, config["emb_dim"])
    block = TransformerBlock(config)
    print("block", block(x)[1, 3, :4].tolist())
    torch.manual_seed(123)
    model = GPTModel(config)
    batch = torch.tensor([[61, 10, 36, 26], [61, 11, 63, 34]])
    print("logits with dropout", model(batch)[1, 3, :4].tolist())
    print("parameters", sum(p.numel() for p in model.parameters()))
    model.eval()
    print("logits", model(batch)[0, 3, :4].tolist())
    out = generate_text_simple(model, torch.tensor([[15, 49, 67, 46]]), 40, 32)
    print("tokens", out[0].tolist())
