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

/** Equal for the same findings, wherever in their files they stand. Worked out once a list. */
export function findingsDigest(findings: readonly Finding[]): string {
  const digest = digests.get(findings) ?? sha256(JSON.stringify(nameFindings(findings).toSorted()))
  digests.set(findings, digest)
  return digest
}
