import { LedgerError } from '../contract/ledger.ts'

/** To act with a moved ledger would repeat creates. @param at as `Ledger.movedAt` */
export function movedAway(ledger: string, at: string): LedgerError {
  return new LedgerError(
    'moved',
    `the ledger ${ledger} was moved into another one on ${at}: pipes that were created with that one since are not in it, and would be ` +
      'created a second time. Name the other ledger with --ledger, or in the chart with the earlier ledger.type. To go back to ' +
      'this place, run "pipewright ledger export FILE --move --ledger OTHER", put this one aside, and run "pipewright ledger import FILE".',
  )
}

/** For an import over an existing ledger. @param hint advice for a moved ledger */
export function isThere(ledger: string, movedAt: string | undefined, hint: string): LedgerError {
  const moved = movedAt === undefined ? '' : ` It was moved into another one on ${movedAt}: ${hint}.`
  return new LedgerError('io', `there is a ledger ${ledger}: an import goes where there is none.${moved}`)
}
