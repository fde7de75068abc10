package runhistory

import "reflect"

// deepCopy returns a copy that shares no map, slice or pointer with the value. Unexported fields, such as those of time.Time, are
// copied as they are.
func deepCopy[T any](value T) T {
	var copied T
	reflect.ValueOf(&copied).Elem().Set(copyOf(reflect.ValueOf(&value).Elem()))
	return copied
}

func copyOf(from reflect.Value) reflect.Value {
	to := reflect.New(from.Type()).Elem()
	to.Set(from)
	switch kind := from.Kind(); kind {
	case reflect.Interface, reflect.Pointer, reflect.Map, reflect.Slice:
		if !from.IsNil() {
			copyShared(from, to)
		}
	case reflect.Array:
		copyItems(from, to)
	case reflect.Struct:
		for at := range from.NumField() {
			if field := to.Field(at); field.CanSet() {
				field.Set(copyOf(from.Field(at)))
			}
		}
	}
	return to
}

// copyShared copies a value that is not nil and that several variables can share.
func copyShared(from, to reflect.Value) {
	switch from.Kind() {
	case reflect.Interface:
		to.Set(copyOf(from.Elem()))
	case reflect.Pointer:
		to.Set(reflect.New(from.Type().Elem()))
		to.Elem().Set(copyOf(from.Elem()))
	case reflect.Map:
		to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
		for item := from.MapRange(); item.Next(); {
			to.SetMapIndex(item.Key(), copyOf(item.Value()))
		}
	case reflect.Slice:
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		copyItems(from, to)
	}
}

func copyItems(from, to reflect.Value) {
	switch from.Type().Elem().Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Map, reflect.Slice, reflect.Array, reflect.Struct:
		for at := range from.Len() {
			to.Index(at).Set(copyOf(from.Index(at)))
		}
	default:
		reflect.Copy(to, from)
	}
}
