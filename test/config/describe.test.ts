import { expect, test } from 'vitest'
import { SETTINGS, settingsTable } from '../../src/config/settings.ts'

test('the table for the docs has a row a setting, and bars within a cell do not split it', () => {
  const lines = settingsTable().trimEnd().split('\n')
  expect(lines).toHaveLength(SETTINGS.length + 2)
  for (const line of lines) expect(line.split(/(?<!\\)\|/)).toHaveLength(6)
  expect(lines).toContain(
    '| `--ledger-init auto\\|never` | `PIPEWRIGHT_LEDGER_INIT` | `auto` | treat a missing ledger as a first run (auto) or as an error (never) |',
  )
  expect(lines.find((line) => line.includes('`--secrets-dir DIR`'))).toContain(
    '| `/etc/pipewright/secrets`; in the sandbox `.pipewright/secrets` |',
  )
})
