import { describeMatrix } from './support/matrix.ts'

describeMatrix('disk-slow')
