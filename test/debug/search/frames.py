# Run by GDB: at each moment of MOMENTS, prints the frames of every hart with their variables, one
# line of JSON each, in the notation of `kcovbox debug`.
import json
import math
from decimal import Decimal

import gdb

ITEMS, TEXT, DEPTH = 32, 200, 4


def escaped(data, quote):
    out = ''
    for byte in data:
        c = chr(byte)
        if c == quote or c == '\\':
            out += '\\' + c
        elif c == '\n':
            out += '\\n'
        else:
            out += c if 0x20 <= byte < 0x7f else '\\x%02x' % byte
    return out


def quoted(data):
    text = data.split(b'\0')[0]
    return '"%s"%s' % (escaped(text[:TEXT], '"'), '...' if len(text) > TEXT else '')


def number_text(x):
    """As ECMAScript writes a number (Number::toString), but with the sign of a zero."""
    if math.isnan(x):
        return 'NaN'
    if math.isinf(x):
        return '-Infinity' if x < 0 else 'Infinity'
    if x == 0:
        return '-0' if math.copysign(1, x) < 0 else '0'
    sign, digits, exponent = Decimal(repr(x)).normalize().as_tuple()
    text, k = ''.join(map(str, digits)), len(digits)
    n = k + exponent
    if k <= n <= 21:
        text += '0' * (n - k)
    elif 0 < n <= 21:
        text = text[:n] + '.' + text[n:]
    elif -6 < n <= 0:
        text = '0.' + '0' * -n + text
    else:
        text = text[0] + ('.' + text[1:] if k > 1 else '') + 'e%+d' % (n - 1)
    return '-' + text if sign else text


def is_char(kind):
    return kind.code == gdb.TYPE_CODE_INT and kind.sizeof == 1


def is_known(value):
    """Can the value be read as a whole?"""
    try:
        value.fetch_lazy()
        return not value.is_optimized_out and '<optimized out>' not in str(value)
    except (gdb.MemoryError, gdb.error):
        return False


def pointer(value, kind):
    at = int(value) & 2**64 - 1
    text = '0x%x' % at
    if at == 0 or not is_char(kind.target().strip_typedefs()):
        return text
    data = b''
    while len(data) < TEXT:
        try:
            byte = bytes(gdb.selected_inferior().read_memory((at + len(data)) & 2**64 - 1, 1))
        except gdb.MemoryError:
            return text
        if byte == b'\0':
            return text + ' ' + quoted(data)
        data += byte
    return '%s %s...' % (text, quoted(data))


def show(value, depth=0):
    kind = value.type.strip_typedefs()
    code = kind.code
    if code == gdb.TYPE_CODE_BOOL:
        return 'true' if int(value) else 'false'
    if code == gdb.TYPE_CODE_FLT:
        return number_text(float(value))
    if code == gdb.TYPE_CODE_INT:
        number = int(value)
        return "%d '%s'" % (number, escaped(bytes([number & 255]), "'")) if kind.sizeof == 1 else str(number)
    if code == gdb.TYPE_CODE_ENUM:
        number = int(value)
        return next((f.name for f in kind.fields() if f.enumval == number), str(number))
    if code == gdb.TYPE_CODE_PTR:
        return pointer(value, kind)
    if code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        if depth >= DEPTH:
            return '{...}'
        parts = []
        for field in kind.fields()[:ITEMS]:
            text = show(value[field], depth + 1)
            parts.append('%s = %s' % (field.name, text) if field.name else text)
        return '{%s}' % ', '.join(parts)
    if code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        of = kind.target().strip_typedefs()
        if is_char(of):
            return quoted(bytes(int(value[i]) & 255 for i in range(low, high + 1)))
        if depth >= DEPTH:
            return '[...]'
        shown = [show(value[i], depth + 1) for i in range(low, min(high + 1, ITEMS))]
        return '{%s%s}' % (', '.join(shown), ', ...' if high + 1 > ITEMS else '')
    return '<%s>' % kind


def variables(frame):
    try:
        block = frame.block()
    except RuntimeError:
        return []
    found = []
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            # A variable whose value is always the same is a constant for GDB.
            if not (symbol.is_variable or symbol.is_argument or symbol.is_constant):
                continue
            try:
                value = symbol.value(frame)
                found.append([symbol.name, show(value) if is_known(value) else '<optimised out>'])
            except gdb.error:
                found.append([symbol.name, '<not read by gdb>'])
        if block.function is not None:
            break
        block = block.superblock
    return found


def frames():
    found = []
    frame = gdb.newest_frame()
    while frame is not None and frame.is_valid() and frame.function() is not None:
        if frame.type() != gdb.TAILCALL_FRAME:
            found.append({
                'function': frame.name(),
                'line': frame.find_sal().line,
                'pc': '0x%x' % (frame.pc() & 2**64 - 1),
                'variables': sorted(variables(frame)),
            })
        try:
            frame = frame.older()
        except gdb.error:
            break
    return found


for moment in MOMENTS:
    gdb.execute('monitor seek %d' % moment, to_string=True)
    gdb.execute('maintenance flush register-cache', to_string=True)
    gdb.execute('maintenance flush dcache', to_string=True)
    for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):
        thread.switch()
        print('FRAMES ' + json.dumps({'moment': moment, 'hart': thread.num - 1, 'frames': frames()}))
