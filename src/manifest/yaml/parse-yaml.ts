import { Composer, Parser, Schema, type CST, type Document } from 'yaml'

/** Tokens that fit nowhere, in one part of a file: after so many, the rest of it is not looked at. */
const MOST_ERRORS = 100

/** Documents that one part of a file is looked through for: where marks are in order, it holds one. */
export const MOST_IN_CHUNK = 20

/** One for all documents: to make one costs more than to parse a small document. Without tags that a tag of a manifest could name. */
const CORE = new Schema({ schema: 'core', merge: false, resolveKnownTags: false })
CORE.knownTags = Object.freeze(Object.create(null) as typeof CORE.knownTags) // not even those of an object
Object.freeze(CORE.tags)

/** `uniqueKeys` is off because it is quadratic: `convert` looks for repeated fields. */
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

export interface YamlStream {
  readonly documents: readonly Document.Parsed[]
  /** What was said outside of documents; empty when there is one. */
  readonly findings: readonly (Document['errors'][number] | Document['warnings'][number])[]
}

/** The documents of a text, as the parser sees them, and no more than one above the limit. Its cost is bounded also where nothing fits. */
export function yamlDocuments(text: string): YamlStream {
  const composer = new Composer(YAML_OPTIONS)
  const documents: Document.Parsed[] = []
  for (const document of composer.compose(firstTokens(new Parser().parse(text)))) {
    documents.push(document)
    if (documents.length > MOST_IN_CHUNK) break
  }
  if (documents.length > 0) return { documents, findings: [] }
  const { errors, warnings } = composer.streamInfo()
  return { documents, findings: [...errors, ...warnings] }
}

/** Each further token that fits nowhere costs the parser more than the one before. */
function* firstTokens(tokens: Iterable<CST.Token>): Generator<CST.Token> {
  let errors = 0
  for (const token of tokens) {
    yield token
    if (token.type === 'error') errors += 1
    if (errors >= MOST_ERRORS) return
  }
}

/** The part of a file that holds one document, as offsets. */
export interface Chunk {
  readonly start: number
  readonly end: number
}

/** A line that ends whatever stands before it. */
const MARK = /^(?:---|\.\.\.)(?![^ \t\r])/

/** A line that says nothing: blank, a comment, or a bare mark. */
const BLANK = /^(?:---)?[ \t\r]*(?:#|$)/

/**
 * Where the documents of a file begin and end. A line that begins with `---` or `...` ends whatever stands
 * before it, quoted or not (YAML 1.2, 9.1.2): cutting there first keeps one broken document from swallowing the next.
 * Parts without content are left out; directives stay with the document that they precede.
 */
export function splitDocuments(text: string): readonly Chunk[] {
  const chunks: Chunk[] = []
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
      // The mark below directives begins their document, and the next one ends it.
    } else if (isMark && content === 'directives') content = 'something'
    if (!(cuts && isEnd) && !BLANK.test(lineText)) {
      content = content !== 'something' && lineText.startsWith('%') ? 'directives' : 'something'
    }
    line = next
  }
  if (content !== 'nothing') chunks.push({ start, end: text.length })
  return chunks
}
