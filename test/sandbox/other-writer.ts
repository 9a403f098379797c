import { openStorage } from '../../src/sandbox/storage.ts'
import { addOne } from './counter.ts'

/*
 * Started by storage.program.test.ts as a process of its own: opens the file that is its first argument, says so by an
 * alert `ready`, and counts up as often as its second says.
 */
const [file, count] = process.argv.slice(2)
using storage = openStorage(file)
storage.putAlert({ id: 'ready', at: 0, body: {}, incidents: [] })
for (let n = 0; n < Number(count); n += 1) addOne(storage)
