import type { Key } from '../../kinds/key.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import type { CrossReport } from './cross-finding.ts'
import type { Before } from './duplicate-keys.ts'
import { checkLocks, type LockedIds } from './lock-rules.ts'
import { checkCircles, checkReferences } from './reference-rules.ts'
import { checkEndpoints, checkPipeNames } from './service-rules.ts'
import { standingIn } from './standing.ts'

/** A reading, as the rules over several documents see it. */
interface World {
  /** In the order of file and line. */
  readonly documents: readonly ParsedDocument[]
  /** Documents whose key another one has. */
  readonly losers: ReadonlySet<ParsedDocument>
  readonly before: Before
  /** Keys whose manifests cannot be read now. */
  readonly held: ReadonlySet<Key>
  /** Keys that this reading did not find, fewer than three times in a row. */
  readonly pending: ReadonlySet<Key>
  /** Some file could not be read or parsed, so that something missing may stand there. */
  readonly isIncomplete: boolean
}

/**
 * The rules that need more than one document (design §3), one or more steps each. Each costs no more than there are documents and what they name.
 * Who is not valid by the ones before claims nothing in those that follow.
 */
export function* crossRules(
  world: World,
  report: CrossReport,
): Generator<void, LockedIds & Pick<Before, 'endpoints'>> {
  const { documents, losers, before, held, pending } = world
  const existing = new Set<Key>([...held, ...pending])
  for (const { key } of documents) if (key !== undefined) existing.add(key)
  const holding = documents.filter((document) => !losers.has(document))
  checkReferences({ documents, existing, isIncomplete: world.isIncomplete }, report)
  yield
  checkCircles(holding, before, report)
  yield
  const standing = standingIn(holding, before, { isInvalid: report.isInvalid, held, pending })
  yield
  const endpoints = checkEndpoints(standing, report)
  yield
  checkPipeNames(holding, standing.serviceIs, report)
  yield
  const locks = checkLocks({ documents: holding, standing, existing }, report)
  return { ...locks, endpoints }
}
