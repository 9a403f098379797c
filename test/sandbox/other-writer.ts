import { openStorage } from '../../src/sandbox/storage.ts'
import { addOne } from './counter.ts'

/*
 * Started by storage.program.test.ts as a process of its own: opens the file that is its first argument, says so by an
 * mark `ready`, and counts up as often as its second says.
 */
const [file, count] = process.argv.slice(2)
using storage = openStorage(file)
storage.putNew('applied', 'ready', true)
for (let n = 0; n < Number(count); n += 1) addOne(storage)
