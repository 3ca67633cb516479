import type { Hex } from 'viem'
import { z } from 'zod'
import type { RpcError } from '../../nodes/endpoint.js'

const hexData = z.string().regex(/^0x[0-9a-fA-F]*$/)

/** What a call reverted with, or null: it stands in `data` itself, or in `data.data`, depending on the node. */
export const readRevertData = ({ data }: RpcError): Hex | null => {
  const nested = z
    .union([hexData, z.object({ data: hexData }).transform((inner) => inner.data)])
    .safeParse(data)
  return nested.success ? `0x${nested.data.slice(2)}` : null
}
