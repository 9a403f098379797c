import type { Finding } from '../kinds/finding.ts'
import { sha256 } from '../lib/digest.ts'

/**
 * A name for each finding that stays when lines are added above it: its line is no part of it, but equal findings of a file
 * are numbered.
 */
export function nameFindings(findings: readonly Finding[]): readonly string[] {
  const seen = new Map<string, number>()
  return findings.map(({ severity, code, file, key, message }) => {
    const name = JSON.stringify([severity, code, file, key, message])
    const number = (seen.get(name) ?? 0) + 1
    seen.set(name, number)
    return `${name}#${number}`
  })
}

const digests = new WeakMap<readonly Finding[], string>()

/** So many findings are remembered each by itself: a record of the ledger has a few kilobytes. */
const REMEMBERED = 200

/** Enough to tell a few hundred apart. */
const DIGITS = 12

/** Equal for the same findings, wherever in their files they stand: a short digest of each, or one of all. Worked out once a list. */
export function findingsDigest(findings: readonly Finding[]): string {
  const digest = digests.get(findings) ?? joined(digestsOf(findings))
  digests.set(findings, digest)
  return digest
}

/** Which of the findings a digest holds, and how many of its own are none of them. Of one of very many: all, or none. */
export function rememberedIn(
  digest: string,
  findings: readonly Finding[],
): { readonly known: ReadonlySet<Finding>; readonly gone: number } {
  if (digest === findingsDigest(findings)) return { known: new Set(findings), gone: 0 }
  const each = digestsOf(findings)
  const now = new Set(each)
  const before = new Set(digest.split(' ').filter((one) => one.length === DIGITS))
  return {
    known: new Set(findings.filter((_, index) => before.has(each[index] ?? ''))),
    gone: [...before].filter((one) => !now.has(one)).length,
  }
}

function digestsOf(findings: readonly Finding[]): readonly string[] {
  return nameFindings(findings).map((name) => sha256(name).slice(0, DIGITS))
}

function joined(each: readonly string[]): string {
  const all = each.toSorted().join(' ')
  return each.length <= REMEMBERED ? all : sha256(all)
}
