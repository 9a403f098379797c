import { ruleError, ruleWarning, type FieldFinding } from '../finding.ts'

const PATH = ['spec', 'source', 'kafka', 'brokers']

const MOST_ENTRIES = 50

const BROKER = /^([A-Za-z][\w+.-]{0,30}:\/\/)?(\[[^\]\s]*\]|[^:/;\s]+)(?::(\d{1,5}))?$/

/**
 * Checks that each broker is `host:port`. A scheme or a missing port is only a warning, because no document
 * says whether the platform accepts it.
 */
export function brokerRules(brokers: string | undefined): readonly FieldFinding[] {
  // Brokers with a user or variable are not checked, because the message could repeat a secret.
  if (brokers === undefined || brokers.length > 4_096 || /[@$]|\{\{/.test(brokers)) return []
  const entries = brokers.split(',').map((entry) => entry.trim())
  if (entries.length > MOST_ENTRIES) return []
  const wrong = entries.find(isWrong)
  const odd = wrong ?? entries.find(isOdd)
  if (odd === undefined) return []
  const place = {
    path: PATH,
    message: `The broker "${odd}" is not host:port.`,
    hint: 'Write host:port for each broker, separated by commas. The usual port is 9092.',
  }
  return [wrong === undefined ? ruleWarning('brokers-invalid', place) : ruleError('brokers-invalid', place)]
}

function isWrong(entry: string): boolean {
  if (entry === '') return false
  const [broker, , , port = '1'] = BROKER.exec(entry) ?? []
  return broker === undefined || Number(port) < 1 || Number(port) > 65_535
}

function isOdd(entry: string): boolean {
  const [, scheme, , port] = BROKER.exec(entry) ?? []
  return scheme !== undefined || port === undefined
}

export function sourceKindRules(named: readonly string[], kinds: readonly string[]): readonly FieldFinding[] {
  const [first, second, ...more] = named
  if (first === undefined) {
    return [
      ruleError('source-kind-count', {
        path: ['spec', 'source'],
        message: `The source has no kind, such as ${kinds[0]}.`,
        hint: `Add exactly one of ${kinds.join(', ')}.`,
      }),
    ]
  }
  if (second === undefined) return []
  return [
    ruleError('source-kind-count', {
      path: ['spec', 'source', second],
      message: `The source has more than one kind: ${[first, second, ...more].join(', ')}.`,
      hint: 'Keep exactly one kind. Write another pipe for each other kind.',
    }),
  ]
}

export function outlineOf(
  source: string | undefined,
  tables: readonly { readonly targetTable?: string | undefined }[],
  { database, table }: { readonly database?: string | undefined; readonly table?: string | undefined },
): Readonly<Record<string, string>> {
  const targets = table === undefined ? tables.map(({ targetTable }) => targetTable) : [table]
  const [first, ...more] = targets
  const whole = [database, first].filter((name) => name !== undefined).join('.')
  return {
    ...(source !== undefined && { source }),
    ...(first !== undefined && { table: more.length === 0 ? whole : `${whole} and ${more.length} more` }),
    ...(first === undefined && database !== undefined && { database }),
  }
}
