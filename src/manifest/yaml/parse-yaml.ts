import { Composer, Parser, type CST, type Document } from 'yaml'

/** Tokens that fit nowhere, in one part of a file: after so many, the rest of it is not looked at. */
const MOST_ERRORS = 100

/** `uniqueKeys` is off because it is quadratic: `convert` looks for repeated fields. */
const YAML_OPTIONS = {
  version: '1.2',
  schema: 'core',
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
  readonly problems: readonly (Document['errors'][number] | Document['warnings'][number])[]
}

/** The documents of a text, as the parser sees them. Its cost is bounded also where nothing fits. */
export function yamlDocuments(text: string): YamlStream {
  const composer = new Composer(YAML_OPTIONS)
  const documents = [...composer.compose(firstTokens(new Parser().parse(text)))]
  if (documents.length > 0) return { documents, problems: [] }
  const { errors, warnings } = composer.streamInfo()
  return { documents, problems: [...errors, ...warnings] }
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
