import type { Finding } from '../kinds/finding.ts'
import { sha256 } from '../lib/digest.ts'

/** One per finding. It stays if lines move. Equal findings of a file are numbered. */
export function digestsOf(findings: readonly Finding[]): readonly string[] {
  const seen = new Map<string, number>()
  return findings.map(({ severity, code, file, key, message }) => {
    const name = JSON.stringify([severity, code, file, key, message])
    const number = (seen.get(name) ?? 0) + 1
    seen.set(name, number)
    return sha256(`${name}#${number}`).slice(0, DIGITS)
  })
}

const digests = new WeakMap<readonly Finding[], string>()

/** Above this number, one digest covers all findings: a ledger record has a few kilobytes. */
const REMEMBERED = 200

/** Of a digest: a ledger record is small. */
const DIGITS = 12

export function findingsDigest(findings: readonly Finding[]): string {
  const digest = digests.get(findings) ?? joined(digestsOf(findings))
  digests.set(findings, digest)
  return digest
}

/** Reported by an earlier process. A digest of all findings matches all or none. */
export function reportedIn(digest: string, findings: readonly Finding[]): ReadonlySet<string> {
  if (digest === findingsDigest(findings)) return new Set(digestsOf(findings))
  return new Set(digest.split(' ').filter((one) => one.length === DIGITS))
}

function joined(each: readonly string[]): string {
  const all = each.toSorted().join(' ')
  return each.length <= REMEMBERED ? all : sha256(all)
}
