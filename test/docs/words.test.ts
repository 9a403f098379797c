import { globSync, readFileSync } from 'node:fs'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, test } from 'vitest'
import { messageOf, REASONS, type Reason } from '../../src/plan/reason.ts'
import { LINES } from '../../src/telemetry/event-table.ts'
import { because } from '../plan/inputs.ts'
import { bannedIn } from '../support/plain-words.ts'
import { ROOT } from '../support/process.ts'

type Text = readonly [value: string, start: number, end: number]

/** Strings, and the parts of templates. */
function textsIn(node: unknown): readonly Text[] {
  if (typeof node !== 'object' || node === null) return []
  const { type, value, start, end } = node as Record<string, unknown> // of a syntax tree
  const raw = type === 'TemplateElement' ? (value as { readonly cooked?: string }).cooked : value
  if (typeof raw === 'string') return [[raw, Number(start), Number(end)]]
  return Object.values(node).flat().flatMap(textsIn)
}

const read = (file: string) => readFileSync(`${ROOT}/${file}`, 'utf8')

const SOURCES = globSync('src/**/*.{ts,js}', { cwd: ROOT }).map((file) => {
  const code = read(file)
  const texts = textsIn(parseAst(code, { lang: file.endsWith('.ts') ? 'ts' : 'js' }))
  const rest = texts.reduceRight((left, [, from, to]) => `${left.slice(0, from)}''${left.slice(to)}`, code)
  const messages = texts.map(([value]) => value).filter((value) => /[a-z] [a-z]+ [a-z]/.test(value))
  return { file, messages, comments: rest.match(/\/\*[\s\S]*?\*\/|\/\/ [^\n]*/g) ?? [] }
})

/** Without code, each paragraph in one line. */
function proseOf(markdown: string): string {
  const words = markdown.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').replaceAll(/`[^`\n]*`/g, 'X')
  return words.replaceAll(/([^\n|])\n {0,4}(?=[^\n|#\-*\d> ])/g, '$1 ')
}

/** Words that a stranger reads twice: their name, hits per 1,000 words that are allowed, flags, pattern. */
const RULES =
  read('test/docs/word-rules.txt')
    .match(/.+/g)
    ?.map((line) => line.split('\t')) ?? []

const PAGES = globSync(['docs/**/*.md', '*.md', 'helm/*.md'], { cwd: ROOT }).map(read)
const COMMENTS = SOURCES.flatMap(({ comments }) => comments).join('\n')
const CORPORA = {
  documents: PAGES.map(proseOf).join('\n'),
  messages: SOURCES.flatMap(({ messages }) => messages).join('\n'),
  comments: COMMENTS.replaceAll(/\n\s*\* ?/g, ' ').replaceAll(/`[^`\n]*`/g, 'X'),
}

describe.each(Object.entries(CORPORA))('%s', (_name, text) => {
  const words = text.match(/[A-Za-z][\w'-]*/g)?.length ?? 0

  test.each(RULES)('have few of: %s', (_rule, limit, flags, pattern = '') => {
    const hits = text.match(new RegExp(pattern, flags)) ?? []
    expect((hits.length / words) * 1000, hits.slice(0, 20).join('\n')).toBeLessThanOrEqual(Number(limit))
  })
})

test('messages of all sources have plain words', () => {
  expect(bannedIn('One may look.\nThe Brake is on.')).toHaveLength(2)
  for (const { file, messages } of SOURCES) expect.soft(bannedIn(messages.join('\n')), file).toEqual([])
  expect(LINES.map(({ message }) => message).filter((message) => /\bpipe\b/i.test(message))).toEqual([])
})

const ALL = Object.keys(REASONS) as readonly Reason[] // the keys of an object literal

test('reasons mean the same for every kind', () => {
  expect(ALL.filter((reason) => /\bpipes?\b/.test(REASONS[reason].means))).toEqual([])
})

test('reasons have short sentences, and each once', () => {
  for (const reason of ALL) {
    const sentences = messageOf(because(reason), { key: 'Pipe/orders' }).split(/(?<=[.!?]["”)]?) +(?=[A-Z"])/)
    expect.soft(sentences.filter((sentence) => sentence.split(/\s+/).length > 30)).toEqual([])
    expect.soft(new Set(sentences).size, reason).toBe(sentences.length)
  }
})
