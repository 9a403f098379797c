import { isObject } from '../../lib/json.ts'
import { nearest } from '../../lib/nearest.ts'
import { MANIFEST_KINDS } from '../../kinds/lookup.ts'
import { API_VERSION } from '../../kinds/manifest.ts'
import type { Path, Statement } from '../diagnostics/diagnostic.ts'
import { looksLikeToken } from '../diagnostics/mask-lines.ts'
import { printable } from '../diagnostics/source-text.ts'

/** What keeps a document from being looked at any further, and where. */
export interface OutlineProblem {
  readonly path: Path
  readonly statement: Statement
}

function fault(path: Path, code: Statement['code'], message: string, hint: string): OutlineProblem {
  return { path, statement: { severity: 'error', code, message, hint } }
}

/** Whether it is a mapping with our `apiVersion` and a kind we know. */
export function outlineProblem(value: unknown): OutlineProblem | undefined {
  if (!isObject(value)) {
    return fault(
      [],
      'not-a-mapping',
      'A manifest is a mapping, and this document is not.',
      'Begin with "apiVersion: pipewright/v1".',
    )
  }
  const { kind, apiVersion } = value
  if (kind === undefined || kind === null) {
    return fault(
      ['kind'],
      'unknown-kind',
      'The manifest has no kind.',
      `Add "kind" with one of ${MANIFEST_KINDS.join(', ')}.`,
    )
  }
  if (typeof kind !== 'string' || !MANIFEST_KINDS.includes(kind)) {
    const shown =
      typeof kind === 'string' && kind.length <= 64 && !looksLikeToken(kind)
        ? ` "${printable(kind)}"`
        : ' like this'
    const meant = typeof kind === 'string' && kind.length <= 64 ? nearest(kind, MANIFEST_KINDS) : undefined
    return fault(
      ['kind'],
      'unknown-kind',
      `There is no kind${shown}.`,
      meant === undefined ? `Write one of ${MANIFEST_KINDS.join(', ')}.` : `Did you mean "${meant}"?`,
    )
  }
  if (apiVersion !== undefined && apiVersion !== API_VERSION) {
    return fault(
      ['apiVersion'],
      'wrong-api-version',
      'The manifest has another apiVersion.',
      `Write "apiVersion: ${API_VERSION}".`,
    )
  }
  return undefined
}
