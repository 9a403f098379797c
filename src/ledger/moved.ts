import { LedgerError } from '../contract/ledger.ts'

export function movedAway(ledger: string, at: string): LedgerError {
  return new LedgerError(
    'moved',
    `the ledger ${ledger} was moved to another ledger on ${at}. It lacks the pipes created since then: with it, Pipewright would create ` +
      'them again. Name the other ledger with --ledger, or in the chart with ledger.type. To return to this ledger, run ' +
      '"pipewright ledger export FILE --move --ledger OTHER", rename this one, and run "pipewright ledger import FILE".',
  )
}

export function isThere(ledger: string, movedAt: string | undefined, hint: string): LedgerError {
  const moved = movedAt === undefined ? '' : ` It was moved to another ledger on ${movedAt}: ${hint}.`
  return new LedgerError(
    'io',
    `the ledger ${ledger} exists already. For an import, name a new ledger with --ledger.${moved}`,
  )
}
