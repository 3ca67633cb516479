import ts from 'typescript'
import { expect, it } from 'vitest'
import { scrubText } from '../../src/platform/scrub.js'
import { listNodes, readSourceFiles } from '../support/sourceFiles.js'

const readLiteral = (node: ts.Node): string | null => {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  // What stands for a value is a number.
  return ts.isTemplateExpression(node)
    ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('2')
    : null
}

it('a sentence of the source is kept where secrets are removed from a text', () => {
  const sentences = readSourceFiles('src').flatMap(({ path, tree }) => {
    // The text of the API's reference and of its page is never logged, and neither is SQL.
    if (/^src\/http\/(?:schemas|openapi|page)\/|^src\/protocol\/webhooks/.test(path)) return []
    return listNodes(tree)
      .map((node) => readLiteral(node) ?? '')
      .filter(
        (text) =>
          / /.test(text) && !/^\s*(?:insert|select|update|delete|with)\b|^(?:Bearer|Basic) 2$/.test(text),
      )
      .map((text) => ({ path, text }))
  })
  expect(sentences.length).toBeGreaterThan(500)
  // A URL loses its path.
  const changed = sentences.filter(({ text }) => !/:\/\//.test(text) && scrubText(text) !== text)
  expect(changed).toEqual([])
})
