import type { Finding } from '../kinds/finding.ts'
import { sha256 } from '../lib/digest.ts'

/** A digest for each finding. A finding that moves to another line keeps it. Equal findings get different digests. */
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

/** Up to this number, each finding has its own digest. More findings share one, because a record must stay small. */
const REMEMBERED = 200

const DIGITS = 12

export function findingsDigest(findings: readonly Finding[]): string {
  return digests.getOrInsertComputed(findings, () => joined(digestsOf(findings)))
}

export function reportedIn(digest: string, findings: readonly Finding[]): ReadonlySet<string> {
  if (digest === findingsDigest(findings)) return new Set(digestsOf(findings))
  return new Set(digest.split(' ').filter((one) => one.length === DIGITS))
}

function joined(each: readonly string[]): string {
  const all = each.toSorted().join(' ')
  return each.length <= REMEMBERED ? all : sha256(all)
}
