import { Cell, type TupleItem } from '@ton/core'
import { z } from 'zod'

const stackEntry = z.tuple([z.string(), z.union([z.string(), z.number(), z.object({ bytes: z.string() })])])

/** Arguments of a get method in toncenter's format. */
export const stackEntries = z.array(stackEntry)

export const readStackEntry = ([type, value]: z.infer<typeof stackEntry>): TupleItem => {
  if (type === 'num' || type === 'int') return { type: 'int', value: BigInt(String(value)) }
  const cell = Cell.fromBase64(typeof value === 'object' ? value.bytes : String(value))
  return /slice/i.test(type) ? { type: 'slice', cell } : { type: 'cell', cell }
}

/** As toncenter does: slices are returned as cells. */
export const writeStackEntry = (item: TupleItem): readonly [string, unknown] => {
  switch (item.type) {
    case 'int':
      return ['num', item.value < 0n ? `-0x${(-item.value).toString(16)}` : `0x${item.value.toString(16)}`]
    case 'cell':
    case 'slice':
    case 'builder':
      return ['cell', { bytes: item.cell.toBoc().toString('base64'), object: {} }]
    case 'null':
    case 'nan':
    case 'tuple':
      return ['list', { '@type': 'tvm.list', elements: [] }]
  }
}
