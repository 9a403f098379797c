import type { Statement } from '../diagnostics/diagnostic.ts'
import type { Limits } from '../yaml/limits.ts'
import { tooMany, tooManyOf } from './limit-statements.ts'

/** Which findings of one document are shown. Asked before their places are looked for: in a hostile document there may be very many. */
export interface Cap {
  /** What is said in place of a finding: itself, that there are more, or nothing. */
  said(statement: Statement): Statement | undefined
}

/** So many in all, and so many of each code. */
export function createCap(limits: Limits): Cap {
  const counts = new Map<Statement['code'], number>()
  let all = 0
  return {
    said(statement) {
      const count = (counts.get(statement.code) ?? 0) + 1
      counts.set(statement.code, count)
      if (all > limits.findings || count > limits.findingsOfRule + 1) return undefined
      all += 1
      if (all > limits.findings) return tooMany(limits)
      return count > limits.findingsOfRule ? tooManyOf(statement.code, limits) : statement
    },
  }
}
