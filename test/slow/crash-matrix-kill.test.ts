import { describeMatrix } from './support/matrix.ts'

describeMatrix('kill')
