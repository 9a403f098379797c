import { expect, test } from 'vitest'
import { closingWords } from '../../src/cli/render/status-text.ts'
import { shownResource } from '../../src/server/shown-resource.ts'
import { condition, resource } from '../server/fake-parts.ts'

const WELL = resource('Pipe/a')
const BAD = resource('Pipe/b', { status: 'Drifted', reason: 'Drifted' })
const UNJUDGED = resource('Pipe/c', {
  conditions: {
    Valid: condition('True'),
    Synced: condition('True'),
    Ready: condition('True', { reason: 'NotJudged' }),
  },
})

test.each(
  Object.entries({
    'all is as it should be': { of: [WELL, WELL], says: 'None of 2 needs attention.' },
    'there is only one': { of: [WELL], says: 'It needs no attention.' },
    'one of several does': { of: [WELL, BAD], says: '1 of 2 needs attention.' },
    'several do': { of: [WELL, BAD, BAD], says: '2 of 3 need attention.' },
    'nothing speaks for or against a state': {
      of: [WELL, UNJUDGED, UNJUDGED, UNJUDGED, UNJUDGED],
      says: 'None of 5 needs attention. 4 are in a state of unknown health (Pipe/c, Pipe/c, Pipe/c and 1 more): list the healthy states in --healthy-states or policy.healthyStates.',
    },
    'nobody looks any more': { of: [WELL, BAD], isOld: true, says: 'As recorded, 1 of 2 needed attention.' },
  }),
)('a list ends with how it is, where %s', (_why, { of, says, isOld }) => {
  expect(
    closingWords(
      of.map((view) => shownResource(view, {})),
      isOld,
    ),
  ).toBe(says)
})
