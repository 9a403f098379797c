import { describe, expectTypeOf, test } from 'vitest'
import type { Observation } from '../../src/reconcile/state/store.ts'
import type { MaskedText, RawText, SecretMask } from '../../src/lib/mask/secret-mask.ts'
import type { RemoteResource } from '../../src/kinds/remote-resource.ts'
import type { judgeState } from '../../src/kinds/state.ts'
import type { Event } from '../../src/contract/events.ts'
import type { ResourceView } from '../../src/contract/view.ts'
import type { ConditionsInput } from '../../src/plan/conditions.ts'
import type { Observed } from '../../src/plan/input.ts'
import type { FactsOf } from '../../src/plan/reason.ts'

/* `npm run check:types` holds these: decisions take what the platform sent, and outputs take masked text. */

type Found = Observed & { readonly status: 'found' }

describe('a masked text', () => {
  test('is no raw text', () => {
    expectTypeOf<MaskedText>().not.toExtend<RawText>()
    expectTypeOf<string>().toExtend<RawText>()
    expectTypeOf<SecretMask['mask']>().returns.toEqualTypeOf<MaskedText>()
  })

  test('decides nothing', () => {
    expectTypeOf<MaskedText>().not.toExtend<Found['state']>()
    expectTypeOf<MaskedText>().not.toExtend<ConditionsInput['state']>()
    expectTypeOf<MaskedText>().not.toExtend<Observation['state']>()
    expectTypeOf<MaskedText>().not.toExtend<RemoteResource['state']>()
    expectTypeOf<MaskedText>().not.toExtend<Parameters<typeof judgeState>[0]>()
  })

  test('is all that is told of a state', () => {
    expectTypeOf<string>().not.toExtend<ResourceView['state']>()
    expectTypeOf<string>().not.toExtend<Extract<Event, { readonly type: 'Observed' }>['state']>()
    expectTypeOf<string>().not.toExtend<FactsOf<'UnhealthyState'>['state']>()
    expectTypeOf<string>().not.toExtend<FactsOf<'Healthy'>['state']>()
  })
})
