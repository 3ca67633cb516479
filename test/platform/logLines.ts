import ts from 'typescript'
import { expect, it } from 'vitest'
import { listNodes, readSourceFiles } from '../support/sourceFiles.js'

/* Fields of lines as they are written at the calls of loggers and failure logs. */

const writers = new Set(['debug', 'info', 'warn', 'error', 'failed'])
/** What belongs to an account. */
const owned = ['settlementId', 'streamId', 'paymentInfoHash', 'intentId']

const listFields = (literal: ts.ObjectLiteralExpression): readonly string[] =>
  literal.properties.flatMap(({ name }) => (name !== undefined && ts.isIdentifier(name) ? [name.text] : []))

it('a line that names what belongs to an account names the account', () => {
  const lines = readSourceFiles('src/usecases').flatMap(({ path, tree }) =>
    listNodes(tree)
      .filter(ts.isCallExpression)
      .filter(
        ({ expression }) => ts.isPropertyAccessExpression(expression) && writers.has(expression.name.text),
      )
      .flatMap((call) => call.arguments.filter(ts.isObjectLiteralExpression))
      .map((literal) => ({ path, fields: listFields(literal) }))
      .filter(({ fields }) => owned.some((field) => fields.includes(field))),
  )
  expect(lines.length).toBeGreaterThan(5)
  expect(lines.filter(({ fields }) => !fields.includes('account'))).toEqual([])
})
