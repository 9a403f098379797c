import { Composer, Lexer, Parser, Schema, type CST, type Document } from 'yaml'
import type { Range } from './node-range.ts'

const MOST_ERRORS = 100

/** Maximum documents in a chunk. Only a chunk of broken YAML has more than one. */
export const MOST_IN_CHUNK = 20

/** Built once, because a schema costs more than parsing a small document. The schema knows no tags. */
const CORE = new Schema({ schema: 'core', merge: false, resolveKnownTags: false })
CORE.knownTags = Object.freeze(Object.create(null) as typeof CORE.knownTags) // no inherited tags either
/** The first tag. Most texts then need no test for null, booleans and numbers. */
const TEXT = /^(?!(?:null|true|false)$)[^-+.~\d]/i
CORE.tags.unshift({ tag: 'tag:yaml.org,2002:str', default: true, test: TEXT, resolve: String })
Object.freeze(CORE.tags)

/** `uniqueKeys` takes quadratic time, so `convert` looks for repeated fields instead. */
const YAML_OPTIONS = {
  version: '1.2',
  schema: CORE,
  strict: true,
  uniqueKeys: false,
  stringKeys: true,
  prettyErrors: false,
  merge: false,
  resolveKnownTags: false,
  logLevel: 'silent',
} as const

/** @param depth maximum nesting, because deeper texts make the parser slow and overflow the stack */
export function yamlDocuments(text: string, depth = Infinity) {
  const composer = new Composer(YAML_OPTIONS)
  const parser = new Parser()
  const documents: Document.Parsed[] = []
  for (const document of composer.compose(firstTokens(parser, text, depth))) {
    documents.push(document)
    if (documents.length > MOST_IN_CHUNK) break
  }
  /** Offset of a collection that is nested too deeply. The text after it was not read. */
  const tooDeep = deepestIn(parser, depth)
  if (documents.length > 0) return { documents, findings: [], tooDeep }
  const { errors, warnings } = composer.streamInfo()
  return { documents, findings: [...errors, ...warnings], tooDeep }
}

/** Stops after many errors, because each unexpected token costs the parser more than the last. */
function* firstTokens(parser: Parser, text: string, depth: number): Generator<CST.Token> {
  let errors = 0
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      yield token
      if (token.type === 'error') errors += 1
    }
    if (errors >= MOST_ERRORS || deepestIn(parser, depth) !== undefined) return
  }
  yield* parser.end()
}

function deepestIn({ stack }: Parser, depth: number): number | undefined {
  // One less, because the first item of the stack is the document.
  if (stack.length - 1 <= depth) return undefined
  const top = stack.at(-1)
  const isCollection =
    top?.type === 'block-map' || top?.type === 'block-seq' || top?.type === 'flow-collection'
  return isCollection ? top.offset : undefined
}

const MARK = /^(?:---|\.\.\.)(?![^ \t\r])/

const BLANK = /^(?:---)?[ \t\r]*(?:#|$)/

/**
 * Finds the documents with content. A line that begins with `---` or `...` ends a document even in quotes
 * (YAML 1.2, 9.1.2). Directives belong to the next document.
 */
export function splitDocuments(text: string): readonly Range[] {
  const chunks: Range[] = []
  let start = 0
  let content: 'nothing' | 'directives' | 'something' = 'nothing'
  let line = 0
  for (const lineText of text.split('\n')) {
    const next = Math.min(line + lineText.length + 1, text.length)
    const isMark = MARK.test(lineText)
    const isEnd = isMark && lineText.startsWith('...')
    const cuts = isMark && (isEnd || (line > 0 && content !== 'directives'))
    if (cuts) {
      const cut = isEnd ? next : line
      if (content !== 'nothing') chunks.push({ start, end: cut })
      start = cut
      content = 'nothing'
    } else if (isMark && content === 'directives') content = 'something'
    if (!(cuts && isEnd) && !BLANK.test(lineText)) {
      content = content !== 'something' && lineText.startsWith('%') ? 'directives' : 'something'
    }
    line = next
  }
  if (content !== 'nothing') chunks.push({ start, end: text.length })
  return chunks
}
