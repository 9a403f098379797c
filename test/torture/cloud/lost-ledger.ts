import { rm } from 'node:fs/promises'
import type { Parts } from '../storm.ts'

/**
 * The ledger is lost between two lives: a list of all pipes has to make it good. Not while a pipe is stopped for a change, which nobody
 * else knows, and not before the list shows every pipe that there is.
 */
export async function loseLedger({ ledger, platform, journal, scene, losses }: Parts): Promise<void> {
  const records = await ledger.records()
  platform.drain()
  const isShown = Date.now() - platform.lastCreateAt > 2 * scene.listLagMs && platform.underWay.size === 0
  if (records === undefined || !isShown || records.some(({ command }) => command !== undefined)) return
  ledger.drain()
  for (const name of [ledger.file, `${ledger.file}-journal`]) await rm(name, { force: true })
  ledger.renewed()
  losses.push(Date.now())
  journal.note(undefined, `the ledger with its ${records.length} records is lost`)
}
