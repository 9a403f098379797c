import { isObject, type JsonObject } from '../lib/json.ts'
import { z } from '../kinds/zod.ts'
import { type Answer, failure, plain, type WireAnswer } from './call.ts'

interface Context {
  readonly answer: Answer
  readonly requestId: string
  /** ms since the epoch. */
  readonly now: number
}

type FaultObject<Type extends string, Members extends z.core.$ZodShape> = z.ZodObject<
  { type: z.ZodLiteral<Type> } & Members,
  z.core.$strict
>

function row<Type extends string, Members extends z.core.$ZodShape>(
  type: Type,
  members: Members,
  effect: string,
  about: {
    /** Whether the platform does the work before the fault. Default: false. */
    readonly isDone?: boolean | ((fault: z.output<FaultObject<Type, Members>>) => boolean)
    readonly reply?: (fault: z.output<FaultObject<Type, Members>>, context: Context) => WireAnswer
  } = {},
) {
  const { isDone = false, reply = (_fault, { answer }) => plain(answer) } = about
  return { schema: z.strictObject({ type: z.literal(type), ...members }).describe(effect), isDone, reply }
}

const Status = z.int().min(200).max(599)

const WAIT_HEADERS = {
  'retry-after': (seconds: number) => ({ 'retry-after': String(seconds) }),
  'x-ratelimit-reset': (seconds: number, now: number) => ({
    'x-ratelimit-reset': String(Math.ceil(now / 1_000 + seconds)),
  }),
  none: () => ({}),
}

const FAULTS = [
  row('latency', { ms: z.int().min(0).max(600_000) }, 'Waits, then does the work and answers.', {
    isDone: true,
  }),
  row(
    'rate-limit',
    {
      seconds: z.number().nonnegative().max(86_400),
      header: z.enum(Object.keys(WAIT_HEADERS) as (keyof typeof WAIT_HEADERS)[]), // its own keys
    },
    'Answers 429, and does no work. The header `x-ratelimit-reset` is a Unix time in seconds.',
    {
      reply: ({ header, seconds }, { requestId, now }) =>
        plain(failure(requestId, 429, 'too many requests', WAIT_HEADERS[header](seconds, now))),
    },
  ),
  row(
    'status',
    { status: Status, error: z.string().min(1).optional().describe('The text of the error.') },
    'Answers with the status and an `error` such as `FAILED_DEPENDENCY: it is idle`, and does no work.',
    { reply: ({ status, error }, { requestId }) => madeToFail(requestId, status, error) },
  ),
  row(
    'not-applied',
    {},
    'Answers as if the work was done, but undoes the work. A later read shows the earlier state.',
  ),
  row('reset', {}, 'Resets the connection (RST), and does no work.', { reply: () => ({ type: 'reset' }) }),
  row('cut-before', {}, 'Closes the connection, and does no work.', { reply: () => ({ type: 'close' }) }),
  row('cut-after', {}, 'Does the work, then closes the connection without an answer.', {
    isDone: true,
    reply: () => ({ type: 'close' }),
  }),
  row('half-body', {}, 'Does the work, then closes the connection in the middle of the answer.', {
    isDone: true,
    reply: (_fault, { answer }) => ({ ...plain(answer), type: 'half' }),
  }),
  row('no-id', {}, 'Does the work, then answers 200 without the id of the resource.', {
    isDone: true,
    reply: (_fault, { answer }) => plain({ ...answer, body: withoutIds(answer.body) }),
  }),
  row('html', { status: Status.default(502) }, 'Answers with the HTML page of a proxy, and does no work.', {
    reply: ({ status }) => ({
      type: 'reply',
      status,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      text:
        `<!DOCTYPE html>\n<html><head><title>${status}</title></head>\n` +
        `<body><center><h1>${status}</h1></center><hr><center>gateway</center></body></html>\n`,
    }),
  }),
  row('error-after', { status: Status.default(500) }, 'Does the work, then answers with an error.', {
    isDone: true,
    reply: ({ status }, { requestId }) => madeToFail(requestId, status),
  }),
  row('hang', { done: z.boolean().default(false) }, 'Never answers. Does the work if `done` is true.', {
    isDone: ({ done }) => done,
    reply: () => ({ type: 'silence' }),
  }),
  row(
    'redirect',
    { status: z.int().min(300).max(399).default(307), location: z.string().default('/elsewhere') },
    'Redirects the request, and does no work.',
    { reply: ({ status, location }) => ({ type: 'reply', status, headers: { location }, text: '' }) },
  ),
] as const

type FaultSchema = (typeof FAULTS)[number]['schema']

export const Fault = z.discriminatedUnion(
  'type',
  FAULTS.map(({ schema }) => schema) as [FaultSchema, ...FaultSchema[]], // the table has rows
)
export type Fault = z.output<FaultSchema>
export type FaultInput = z.input<FaultSchema>

export function isWorkDone(fault: Fault): boolean {
  const { isDone } = rowOf(fault)
  return typeof isDone === 'boolean' ? isDone : isDone(fault)
}

export function distort(fault: Fault, context: Context): WireAnswer {
  return rowOf(fault).reply(fault, context)
}

function rowOf({ type }: Fault) {
  const found = FAULTS.find(({ schema }) => schema.shape.type.value === type)
  if (found === undefined) throw new Error(`there is no fault ${type}`)
  return found as {
    isDone: boolean | ((fault: Fault) => boolean)
    reply: (fault: Fault, context: Context) => WireAnswer
  } // takes faults of this type
}

function madeToFail(requestId: string, status: number, error = `made to fail with ${status}`): WireAnswer {
  return plain(failure(requestId, status, error))
}

function withoutIds(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      isObject(value) ? { ...value, id: undefined } : value,
    ]),
  )
}
