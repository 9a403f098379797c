import { expect, test } from 'vitest'
import { createFaults, type FaultRuleInput, type FaultTarget } from '../../src/sandbox/faults.ts'
import { ask, givenSandbox, ORDERS, PIPES } from './given.ts'

const create: FaultTarget = { operation: 'createPipe', subjects: ['orders', 'service-1'] }
const read: FaultTarget = { operation: 'getPipe', subjects: ['id-1', 'orders', 'service-1'] }
const alert: FaultTarget = { operation: 'getAlert', subjects: ['alert-1'] }
const status = (code: number) => ({ type: 'status', status: code }) as const
const reset = { type: 'reset' } as const

/** Each ends with what befalls the requests. */
const ROWS: Readonly<
  Record<string, readonly [rules: readonly FaultRuleInput[], asked: readonly FaultTarget[]]>
> = {
  'no rule, no fault: none, none': [[], [create, read]],
  'a rule is for one request: 500, none': [[{ fault: status(500) }], [create, read]],
  'a rule can be for some: 500, 500, none': [[{ times: 2, fault: status(500) }], [create, read, read]],
  'a rule can be for ever: reset, reset, reset': [[{ times: 'always', fault: reset }], [create, read, read]],
  'by operation: none, reset': [[{ operation: 'getPipe', fault: reset }], [create, read]],
  'by the name of a pipe: reset, none, reset': [
    [{ subject: 'orders', times: 'always', fault: reset }],
    [create, alert, read],
  ],
  'by the id of a pipe: none, reset': [[{ subject: 'id-1', fault: reset }], [create, read]],
  'by service: none, reset, reset': [
    [{ subject: 'service-1', times: 2, fault: reset }],
    [alert, create, read],
  ],
  'from the nth fitting request on: none, none, reset, none': [
    [{ operation: 'getPipe', nth: 2, fault: reset }],
    [read, create, read, read],
  ],
  'one rule after the other is a script: 503, reset, none': [
    [{ fault: status(503) }, { fault: reset }],
    [create, create, create],
  ],
  'nth counts what earlier rules left: 503, none, reset': [
    [{ fault: status(503) }, { nth: 2, fault: reset }],
    [read, read, read],
  ],
}

test.each(Object.entries(ROWS))('%s', (title, [rules, asked]) => {
  const faults = createFaults()
  faults.add(...rules)
  const seen = asked.map((target) => {
    const fault = faults.pick(target)
    return fault?.type === 'status' ? fault.status : (fault?.type ?? 'none')
  })
  expect(seen.join(', ')).toBe(title.split(': ').at(-1))
})

const MIX = {
  seed: 7,
  faults: [
    { probability: 0.2, fault: status(500) },
    { probability: 0.1, fault: reset },
  ],
}

test('a mix is the same for the same seed, and another one for another', () => {
  expect(draw(7)).toEqual(draw(7))
  expect(draw(7)).not.toEqual(draw(8))
})

test('what befalls one subject does not depend on how others come between', () => {
  const alone = createFaults()
  alone.mix(MIX)
  const among = createFaults()
  among.mix(MIX)
  for (let n = 0; n < 100; n += 1) {
    const expected = alone.pick(read)
    among.pick(create)
    expect(among.pick(read)).toEqual(expected)
    among.pick(alert)
  }
})

test('a mix keeps to its probabilities', () => {
  const faults = createFaults()
  faults.mix(MIX)
  const seen = Array.from({ length: 5_000 }, () => faults.pick(read)?.type)
  const share = (type: string | undefined) => seen.filter((one) => one === type).length / seen.length
  expect(share('status')).toBeCloseTo(0.2, 1)
  expect(share('reset')).toBeCloseTo(0.1, 1)
  expect(share(undefined)).toBeCloseTo(0.7, 1)
})

test('the script goes before the mix, and clearing ends both', () => {
  const faults = createFaults()
  faults.mix({ seed: 1, faults: [{ probability: 1, fault: reset }] })
  faults.add({ fault: status(500) })
  expect([faults.pick(read)?.type, faults.pick(read)?.type]).toEqual(['status', 'reset'])
  faults.add({ fault: status(500) })
  faults.clear()
  expect(faults.pick(read)).toBeUndefined()
})

test.each<[string, () => unknown, RegExp]>([
  [
    'a status that is none',
    () => createFaults().add({ fault: { type: 'status', status: 42 } }),
    /expected number to be >=200/,
  ],
  ['an nth of 0', () => createFaults().add({ nth: 0, fault: reset }), /expected number to be >=1/],
  [
    'probabilities of more than 1',
    () =>
      createFaults().mix({
        seed: 1,
        faults: [0.6, 0.6].map((probability) => ({ probability, fault: reset })),
      }),
    /must not add up to more than 1/,
  ],
])('refused: %s', (_why, act, message) => {
  expect(act).toThrow(message)
})

test('over HTTP, a pipe goes by its name and by its id', async () => {
  await using sandbox = await givenSandbox()
  const { id } = (await ask(sandbox, PIPES, { body: ORDERS })).body.result
  const other = (await ask(sandbox, PIPES, { body: { ...ORDERS, name: 'refunds' } })).body.result.id
  sandbox.faults.add(
    { subject: 'orders', operation: 'getPipe', fault: status(503) },
    { subject: id, fault: status(409) },
  )
  expect((await ask(sandbox, `${PIPES}/${other}`)).status).toBe(200)
  expect((await ask(sandbox, `${PIPES}/${id}`)).status).toBe(503)
  expect((await ask(sandbox, `${PIPES}/${id}`)).status).toBe(409)
})

function draw(seed: number): readonly (string | undefined)[] {
  const faults = createFaults()
  faults.mix({ ...MIX, seed })
  return Array.from({ length: 200 }, () => faults.pick(read)?.type)
}

test('rules that are imposed go before the script, and are taken back', () => {
  const faults = createFaults()
  faults.add({ times: 'always', fault: status(500) })
  const takeBack = faults.impose({ operation: 'getPipe', subject: 'orders', times: 'always', fault: reset })
  expect([faults.pick(read), faults.pick(create)]).toEqual([reset, status(500)])
  takeBack()
  expect(faults.pick(read)).toEqual(status(500))
})
