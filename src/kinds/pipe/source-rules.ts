import { ruleError, ruleWarning, type RuleFinding } from '../finding.ts'

const PATH = ['spec', 'source', 'kafka', 'brokers']

const MOST_ENTRIES = 50

/** A scheme, a host without colons or in brackets, and a port. */
const BROKER = /^([A-Za-z][\w+.-]{0,30}:\/\/)?(\[[^\]\s]*\]|[^:/;\s]+)(?::(\d{1,5}))?$/

/**
 * The brokers are a text of entries `host:port`. The interface does not say whether it takes a scheme, or a
 * host without a port: these are warnings.
 */
export function brokerRules(brokers: string | undefined): readonly RuleFinding[] {
  // Skips an entry with a user: the message would repeat a secret.
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

/** A pipe has exactly one source. @param named the kinds that it names */
export function sourceKindRules(named: readonly string[], kinds: readonly string[]): readonly RuleFinding[] {
  const [first, second, ...more] = named
  if (first === undefined) {
    return [
      ruleError('source-kind-count', {
        path: ['spec', 'source'],
        message: 'The source names no source kind.',
        hint: `Add exactly one of ${kinds.join(', ')}.`,
      }),
    ]
  }
  if (second === undefined) return []
  return [
    ruleError('source-kind-count', {
      path: ['spec', 'source', second],
      message: `The source names more than one source kind: ${[first, second, ...more].join(', ')}.`,
      hint: 'Keep exactly one, and make a pipe of its own for each other one.',
    }),
  ]
}
