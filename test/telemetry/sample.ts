import { operationsOf } from '../../src/kinds/profile.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { Writable } from 'node:stream'
import type { Finding } from '../../src/kinds/finding.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { ResourceView } from '../../src/contract/view.ts'
import { createTelemetry, type TelemetryOptions } from '../../src/telemetry/telemetry.ts'
import { finding as anyFinding, resource as anyResource, type Over } from '../server/fake-parts.ts'

export const NOW = Date.UTC(2026, 5, 1, 12)

export const clock: Clock = { now: () => NOW, monotonic: () => 0, after: () => () => {} }

export function finding(over: Partial<Finding> = {}): Finding {
  return anyFinding({ file: 'orders.yaml', key: 'Pipe/orders', ...over })
}

export function resource(key: Key, over: Over = {}): ResourceView {
  const fine = { status: 'True', reason: 'InSync', since: NOW } as const
  const conditions = { Valid: fine, Synced: fine, Ready: fine }
  const place = { file: undefined, line: undefined, manifestRevision: 'abc122', service: undefined }
  const times = { lastReconciledAt: undefined, nextReconcileAt: undefined }
  return anyResource(key, { conditions, ...place, ...times, ...over })
}

interface Overrides extends Partial<Pick<TelemetryOptions, 'board' | 'facts' | 'namedResources'>> {
  readonly log?: Partial<TelemetryOptions['log']>
}

/** Telemetry that logs into memory. */
export async function telemetry(over: Overrides = {}) {
  const chunks: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk))
      done()
    },
  })
  const made = createTelemetry({
    operations: operationsOf(DEFAULT).map(({ name }) => name),
    version: '9.9.9',
    board: over.board ?? (() => []),
    facts:
      over.facts ?? (() => ({ isActing: false, withoutLock: 0, withoutManifest: undefined, budgetUsed: 0 })),
    namedResources: over.namedResources ?? 1_000,
    clock,
    log: { level: 'info', format: 'json', destination, ...over.log },
  })
  /** What was written since the last call. */
  function text(): string {
    return chunks.splice(0).join('')
  }
  function lines(): readonly Readonly<Record<string, unknown>>[] {
    return text()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>) // written by pino
  }
  return { ...made, text, lines, destination }
}
