// Templates in the supported part of the FreeMarker language.
import { expect, test } from 'vitest'
import { renderTemplate, type TemplateValues } from '../../src/lib/keycloak/freemarker.ts'

const values: TemplateValues = {
  name: 'a "b" <c>',
  empty: '',
  yes: true,
  no: false,
  list: ['x', 'y'],
  none: [],
  properties: { title: 'T', styles: 'one two' },
}

test.each([
  ['<p>${name}</p>', '<p>a &#34;b&#34; &#60;c&#62;</p>'],
  ['${properties.title}${properties.logo!"none"}${properties.logo!\'\'}', 'Tnone'],
  ['${yes?c} ${yes?then("on", \'off\')} ${no?then("on", "off")}', 'true on off'],
  ['<#if yes>1<#elseif no>2<#else>3</#if><#if no>1<#elseif yes>2</#if><#if !yes>1<#else>3</#if>', '123'],
  ['<#if yes && !no>1</#if><#if missing?? && missing.x?has_content>2</#if>', '1'],
  [
    '<#if empty?has_content>1</#if><#if none?has_content>2</#if><#if list?has_content>3</#if><#if no?has_content>4</#if>',
    '34',
  ],
  ['<#list list as item>[${item}<#if yes>!</#if>]</#list><#list none as item>x</#list>', '[x!][y!]'],
  ["<#list properties.styles?split(' ') as style>${style};</#list>", 'one;two;'],
  ['<#-- left out <#if -->a<#import "x.ftl" as macros><#if no><@macros.render list /></#if>', 'a'],
])('%s becomes %s', (template, expected) => {
  expect(renderTemplate(template, values)).toBe(expected)
})

test.each([
  ['${missing}', 'missing has no text'],
  ['${list}', 'list has no text'],
  ['<#if name>1</#if>', 'name is neither true nor false'],
  ['<#if yes>1', '<#if yes> has no end'],
  ['<#list name as item></#list>', 'name is not a list'],
  ['<#assign x = 1>', '<#assign x = 1> is not supported'],
  ['${name?upper_case}', '?upper_case is not supported'],
  ['${f(1)}', '(1) is not supported'],
  ['<@macros.render list />', '@macros.render list / has no text'],
  ['a</#if>', 'Unexpected </#if>'],
])('%s is refused: %s', (template, message) => {
  expect(() => renderTemplate(template, values)).toThrow(message)
})
