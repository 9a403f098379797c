import type { FastifyInstance } from 'fastify'
import { type FileTree, MOST_PLANNED } from '../../contract/plan.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { ServerParts } from '../parts.ts'
import { RequestError } from '../replies.ts'
import { assertActs, authorize } from './reconcile-requests.ts'

/** What the lines of a body are: a head, then a file each. */
export const PLAN_BODY = 'application/x-ndjson'

/** For JSON around the bytes of files, in the most costly of escapes. */
const MOST_BYTES = 2 * MOST_PLANNED.bytes

/** Of one file as JSON. */
const MOST_LINE_BYTES = 8 * 1024 * 1024

const BUSY_S = 10

/** `POST /api/v1/plan`: what would happen if the manifests that are sent were those of the directory. One at a time. */
export function registerPlan(app: FastifyInstance, parts: ServerParts): void {
  let isBusy = false
  app.addContentTypeParser(PLAN_BODY, (_request, payload, done) => done(null, payload))
  app.post('/api/v1/plan', async (request, reply) => {
    const { planner } = parts
    if (planner === undefined) {
      throw new RequestError(
        404,
        'planning is switched off',
        'Start Pipewright with --admin-token-file FILE (PIPEWRIGHT_ADMIN_TOKEN_FILE), and send what is in it as a bearer token.',
      )
    }
    await authorize(request.headers.authorization, planner)
    assertActs(parts)
    const gone = new AbortController()
    reply.raw.on('close', () => gone.abort(new Error('the client has gone')))
    const tree = await readTreeOf(request.body).catch((error: unknown) => {
      // The rest of the body is not read: nothing can follow it on this connection.
      reply.header('connection', 'close')
      throw error
    })
    // Only now, so that a client that sends slowly, or no more, keeps nobody waiting.
    if (isBusy) {
      reply.header('retry-after', BUSY_S)
      throw new RequestError(429, 'another plan is being made', 'Ask again when it is done.')
    }
    isBusy = true
    try {
      const answer = await planner.plan(tree, gone.signal)
      if (answer.is === 'plan') return { ...answer.plan, manifests: tree.manifests }
      throw new RequestError(
        503,
        answer.why,
        'Ask again; with many resources, a plan takes as long as the request budget lets it.',
      )
    } finally {
      isBusy = false
    }
  })
}

type SentTree = FileTree & { readonly manifests: string }

async function readTreeOf(body: unknown): Promise<SentTree> {
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body))
    throw notUnderstood('it is empty')
  let head: JsonObject | undefined
  const files = new Map<string, FileTree['files'][number]>()
  let bytes = 0
  for await (const line of linesOf(body as AsyncIterable<Buffer>)) {
    const value = objectIn(line)
    if (head === undefined) head = value
    else {
      const file = fileOf(value)
      bytes += file.bytes.length
      if (files.has(file.file)) throw notUnderstood(`${file.file} is there twice`)
      files.set(file.file, file)
      if (files.size > MOST_PLANNED.files) throw tooLarge(`more than ${MOST_PLANNED.files} files`)
      if (bytes > MOST_PLANNED.bytes) throw tooLarge(`more than ${MOST_PLANNED.bytes} bytes of manifests`)
    }
  }
  if (head === undefined) throw notUnderstood('it is empty')
  return { ...headOf(head), files: [...files.values()].toSorted((a, b) => (a.file < b.file ? -1 : 1)) }
}

/** One at a time, so that a large body is parsed in as many pieces as it has files. */
async function* linesOf(body: AsyncIterable<Buffer>): AsyncIterable<string> {
  let rest: Buffer[] = []
  let [length, total] = [0, 0]
  for await (const chunk of body) {
    total += chunk.length
    if (total > MOST_BYTES) throw tooLarge(`more than ${MOST_BYTES} bytes`)
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...rest, chunk.subarray(start, end)]).toString('utf8')
      rest = []
      length = 0
      start = end + 1
      if (line.trim() !== '') yield line
    }
    rest.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > MOST_LINE_BYTES) throw tooLarge(`a line of more than ${MOST_LINE_BYTES} bytes`)
  }
  const last = Buffer.concat(rest).toString('utf8')
  if (last.trim() !== '') yield last
}

function objectIn(line: string): JsonObject {
  try {
    const value: unknown = JSON.parse(line)
    if (isObject(value)) return value
  } catch {
    // Said below: the error of a parser quotes the text.
  }
  throw notUnderstood('a line of it is not a JSON object')
}

/** Longer is no path that a file system takes: bytes. */
const LONGEST_PATH = 4_096

/** Neither a step out of the directory nor a hidden name: a reading of the directory has none. */
function isPath(file: unknown): file is string {
  return (
    typeof file === 'string' &&
    Buffer.byteLength(file) <= LONGEST_PATH &&
    file.split('/').every((part) => part !== '' && !part.startsWith('.'))
  )
}

function fileOf({ file, text, base64 }: JsonObject): FileTree['files'][number] {
  if (!isPath(file)) throw notUnderstood('a line has no "file", the relative path of a manifest')
  if (typeof text === 'string') return { file, bytes: Buffer.from(text, 'utf8') }
  if (typeof base64 === 'string') {
    const bytes = Buffer.from(base64, 'base64')
    if (bytes.toString('base64') === base64) return { file, bytes }
    throw notUnderstood(`the "base64" of ${file} is none`)
  }
  throw notUnderstood(`the line of ${file} has neither "text" nor "base64"`)
}

function headOf({ revision, manifests, unread, findings }: JsonObject): Omit<SentTree, 'files'> {
  const id = isObject(revision) ? revision['id'] : undefined
  const from = isObject(revision) ? revision['from'] : undefined
  if (typeof id !== 'string' || (from !== 'git' && from !== 'git-sync' && from !== 'content'))
    throw notUnderstood('its first line has no "revision" with "id" and "from"')
  return {
    revision: { id, from },
    manifests: typeof manifests === 'string' ? manifests : '',
    unread: Array.isArray(unread) ? unread.filter((each) => typeof each === 'string') : [],
    findings: Array.isArray(findings) ? findings.filter(isObject).map(findingOf) : [],
  }
}

/** About a whole file: it has no text to show. */
function findingOf(sent: JsonObject): FileTree['findings'][number] {
  const text = (name: string) => (typeof sent[name] === 'string' ? sent[name] : '')
  return {
    severity: sent['severity'] === 'warning' ? 'warning' : 'error',
    code: text('code'),
    message: text('message'),
    hint: text('hint'),
    file: text('file'),
    line: 1,
    column: 1,
    endColumn: 1,
    lineText: '',
    key: undefined,
    related: [],
  }
}

function notUnderstood(why: string): RequestError {
  return new RequestError(
    400,
    `the body is not understood: ${why}`,
    `Send ${PLAN_BODY}: first {"revision": {"id", "from"}}, then {"file", "text"} for each manifest.`,
  )
}

function tooLarge(what: string): RequestError {
  return new RequestError(
    413,
    `too much to plan: ${what}`,
    'Make the plan where the manifests are, without --server.',
  )
}
