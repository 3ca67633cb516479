import { type ErrorCode, errorStatus } from '../../../errors.js'
import type { ReasonCatalogue } from '../../../protocol/explanations.js'
import { findReasonHelp } from '../../../protocol/reasons/help.js'
import {
  describeReason,
  findOperationalCode,
  findRemedy,
  isReason,
  reasons,
} from '../../../protocol/reasons.js'
import { errorHelp } from './errorHelp.js'

/** Every reason and error code of this version; built once. */
export const createListReasons = (): (() => ReasonCatalogue) => {
  const catalogue: ReasonCatalogue = {
    reasons: Object.keys(reasons)
      .filter(isReason)
      .map((reason) => {
        const operationalCode = findOperationalCode(reason)
        return {
          reason,
          title: describeReason(reason),
          ...findReasonHelp(reason),
          retryable: !findRemedy(reason).isFinal,
          ...(operationalCode === null ? {} : { operationalCode }),
        }
      }),
    errorCodes: Object.entries(errorStatus).map(([code, status]) => ({ code, status, ...helpOf(code) })),
  }
  return () => catalogue
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorHelp, code)

const helpOf = (code: string) => {
  const [explanation, remedy] = isErrorCode(code) ? errorHelp[code] : ['', '']
  return { explanation, remedy }
}
