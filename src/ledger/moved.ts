import { LedgerError } from '../contract/ledger.ts'

/** Of a ledger that goes on in another one: to act with it would create again what was created there. @param at as `Ledger.movedAt` */
export function movedAway(ledger: string, at: string): LedgerError {
  return new LedgerError(
    'moved',
    `the ledger ${ledger} was moved into another one on ${at}: pipes that were created with that one since are not in it, and would be ` +
      'created a second time. Work with the other one: name it with --ledger; in the chart, set ledger.type to what it was. To go back to ' +
      'this place, run "pipewright ledger export FILE --move --ledger OTHER", put this one aside, and run "pipewright ledger import FILE".',
  )
}

/** An import goes where there is none. @param hint what to do with what is there, if it was moved */
export function isThere(ledger: string, movedAt: string | undefined, hint: string): LedgerError {
  const moved = movedAt === undefined ? '' : ` It was moved into another one on ${movedAt}: ${hint}.`
  return new LedgerError('io', `there is a ledger ${ledger}: an import goes where there is none.${moved}`)
}
