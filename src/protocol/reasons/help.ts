import type { Reason } from '../reasons.js'
import { authCaptureHelp } from './help/authCapture.js'
import { channelHelp } from './help/channels.js'
import { commonHelp } from './help/common.js'
import { evmHelp } from './help/evm.js'
import { exactDirectHelp } from './help/exactDirect.js'
import { solanaHelp } from './help/solana.js'
import { tonHelp } from './help/ton.js'
import { tronHelp } from './help/tron.js'
import type { HelpTable } from './reasonEntry.js'

const help = {
  ...commonHelp,
  ...evmHelp,
  ...authCaptureHelp,
  ...channelHelp,
  ...solanaHelp,
  ...tonHelp,
  ...tronHelp,
  ...exactDirectHelp,
} as const satisfies HelpTable & Readonly<Record<Reason, HelpTable[string]>>

/** When a reason is answered, and what to do then. */
export const findReasonHelp = (reason: Reason): { readonly explanation: string; readonly remedy: string } => {
  const [explanation, remedy] = help[reason]
  return { explanation, remedy }
}
