import type { Statement } from '../diagnostics/diagnostic.ts'
import type { Limits } from '../yaml/limits.ts'

/* What is said where a limit of reading is reached. */

export function tooDeep(limits: Limits): Statement {
  return {
    severity: 'error',
    code: 'too-deep',
    message: `Collections are nested more than ${limits.depth} deep.`,
    hint: 'Flatten the document; no manifest needs this.',
  }
}

export function tooMany(limits: Limits): Statement {
  return {
    severity: 'warning',
    code: 'too-many-findings',
    message: `This document has more than ${limits.findings} findings; the rest is not shown.`,
    hint: 'Correct these first.',
  }
}

export function tooManyOf(code: Statement['code'], limits: Limits): Statement {
  return {
    severity: 'warning',
    code: 'too-many-findings',
    message: `This document has more than ${limits.findingsOfRule} findings "${code}"; the rest of them is not shown.`,
    hint: 'Correct these first.',
  }
}

/** Said of a document with errors, where no more is said of it. */
export function tooManyOfFile(limits: Limits): Statement {
  return {
    severity: 'error',
    code: 'too-many-findings',
    message: `This document has errors, which are not shown: its file has more than ${limits.findingsOfFile} findings, or the directory very many.`,
    hint: 'Correct those that are shown first.',
  }
}

export function tooManyDocuments(limits: Limits): Statement {
  return {
    severity: 'error',
    code: 'too-many-documents',
    message: `The file holds more than ${limits.documents} documents; this one and those after it are not read.`,
    hint: 'Split it into several files.',
  }
}

export function notSeparated(most: number): Statement {
  return {
    severity: 'error',
    code: 'too-many-documents',
    message: `More than ${most} documents stand here without "---" between them; none of them is read.`,
    hint: 'Put "---" at the beginning of a line between two documents.',
  }
}

export function documentTooComplex(limits: Limits): Statement {
  return {
    severity: 'error',
    code: 'too-complex',
    message: `The document holds more than ${limits.documentMarks} values; nothing of it is read.`,
    hint: 'Divide it into several documents.',
  }
}

export function tooComplex(limits: Limits): Statement {
  return {
    severity: 'error',
    code: 'too-complex',
    message: `The file holds more than ${limits.marks} values; nothing of it is read.`,
    hint: 'Split it into several files.',
  }
}
